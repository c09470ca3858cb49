// Applies changes to a sparse matrix: finds what each does to the entries, then builds the changed matrix
// (src/matrix/sparse/device_merge.rs).
//
// Changes are sorted by row and column, each place once. `changes` has these words for `count` changes of `rows` rows:
//   rows      the numbers of the rows
//   rows + 1  the first change of each row, then `count`
//   count     the column of each change; CHANGE_REPLACES is set if the value replaces the entry, else it is added
// The columns of a row of the matrix are sorted too, each once. Changes and non-zeros are thus two sorted lists. Two
// numbers describe a change: the first non-zero that does not precede it, and how many more non-zeros precede it
// afterwards.

// Kinds of a change: an entry exists and stays, or is removed, or is inserted. 0: there is no entry before or after.
#define CHANGES_KEEPS 1u
#define CHANGES_REMOVES 2u
#define CHANGES_INSERTS 3u

typedef struct {
    u32 count, rows;
    GLOBAL const u32 *numbers, *starts, *columns;
} changes_t;

DEVICE changes_t changes_of(u32 count, u32 rows, GLOBAL const u32 *changes) {
    changes_t r;
    r.count = count, r.rows = rows;
    r.numbers = changes, r.starts = changes + rows, r.columns = changes + 2 * (u64)rows + 1;
    return r;
}

// Holds for each change its non-zero, its kind, and the sum of shifts over earlier changes of its group; then the sums
// of the groups.
typedef struct {
    GLOBAL u32 *places, *kinds, *shifts, *sums;
} marks_t;

DEVICE marks_t changes_marks(u32 count, GLOBAL u32 *marks) {
    marks_t r;
    r.places = marks, r.kinds = marks + count, r.shifts = marks + 2 * (u64)count, r.sums = marks + 3 * (u64)count;
    return r;
}

// Returns how many of the `count` ascending `numbers` are at most `number`.
DEVICE u32 changes_up_to(GLOBAL const u32 *numbers, u32 count, u32 number) {
    u32 from = 0, to = count;
    while (from < to) {
        u32 middle = from + (to - from) / 2;
        if (numbers[middle] <= number) from = middle + 1;
        else to = middle;
    }
    return from;
}

// Returns the first non-zero in from … to − 1 whose column is at least `column`, or `to`.
DEVICE u32 changes_place(csr_t a, u32 from, u32 to, u32 column) {
    u32 index;
    while (from < to) {
        u32 middle = from + (to - from) / 2;
        if (csr_entry(a, middle, &index) < column) from = middle + 1;
        else to = middle;
    }
    return from;
}

DEVICE u32 changes_more(u32 kind) {
    return kind == CHANGES_INSERTS ? 1u : kind == CHANGES_REMOVES ? 0xffffffffu : 0u;
}

// Finds the place and the kind of each change, and replaces its value by the difference to the entry. One work-item per
// change.
KERNEL(SCAN_GROUP)
void delta_lookup(delta_params_t params, GLOBAL const u32 *changes, GLOBAL F(t) *values, GLOBAL u32 *marks,
                  GLOBAL const u32 *pointers, GLOBAL const u32 *entries, GLOBAL const u32 *indices,
                  GLOBAL const F(t) *dictionary) {
    LOCAL u32 sums[SCAN_GROUP];
    csr_t a = CSR_MATRIX;
    u32 count = params.count, rows = params.rows;
    changes_t these = changes_of(count, rows, changes);
    marks_t known = changes_marks(count, marks);
    u32 i = GLOBAL_ID, kind = 0, index = 0, total;
    if (i < count) {
        u32 row = these.numbers[changes_up_to(these.starts, rows, i) - 1];
        u32 column = these.columns[i] & ~CHANGE_REPLACES, end = pointers[row + 1];
        u32 place = changes_place(a, pointers[row], end, column);
        bool there = place < end && csr_entry(a, place, &index) == column;
        F(t) before = there ? dictionary[index] : F(zero)(), value = values[i];
        F(t) after = (these.columns[i] & CHANGE_REPLACES) != 0 ? value : F(add)(before, value);
        if (F(is_zero)(after)) kind = there ? CHANGES_REMOVES : 0;
        else kind = there ? CHANGES_KEEPS : CHANGES_INSERTS;
        values[i] = F(sub)(after, before);
        known.places[i] = place, known.kinds[i] = kind;
    }
    u32 before = scan_group(sums, changes_more(kind), &total);
    if (i < count) known.shifts[i] = before;
    if (LOCAL_ID == 0) known.sums[GROUP_ID] = total;
}

// Replaces the sum of each group by that over all earlier groups, and stores the sum of all behind them. One group.
KERNEL(SCAN_GROUP)
void changes_scan(u32 count, u32 groups, GLOBAL u32 *marks) {
    LOCAL u32 scratch[SCAN_GROUP];
    GLOBAL u32 *sums = changes_marks(count, marks).sums;
    u32 share = (groups + SCAN_GROUP - 1) / SCAN_GROUP, sum = 0, total;
    u32 first = LOCAL_ID * share < groups ? LOCAL_ID * share : groups,
        end = first + share < groups ? first + share : groups;
    for (u32 i = first; i < end; i++) sum += sums[i];
    sum = scan_group(scratch, sum, &total);
    for (u32 i = first; i < end; i++) {
        u32 mine = sums[i];
        sums[i] = sum;
        sum += mine;
    }
    if (LOCAL_ID == 0) sums[groups] = total;
}

// Returns how many more non-zeros precede change `i` afterwards.
DEVICE u32 changes_before(marks_t known, u32 i) {
    return known.shifts[i] + known.sums[i / SCAN_GROUP];
}

// Computes the row pointers of the changed matrix, in a kernel of its own, so that the host has them while the rest is
// computed. One work-item per pointer.
KERNEL(SCAN_GROUP)
void changes_pointers(u32 count, u32 rows, GLOBAL const u32 *changes, GLOBAL u32 *marks, u32 all_rows,
                      GLOBAL const u32 *pointers, GLOBAL u32 *new_pointers) {
    changes_t these = changes_of(count, rows, changes);
    marks_t known = changes_marks(count, marks);
    u32 row = GLOBAL_ID;
    if (row > all_rows) return;
    // The first change of this row or a later one.
    u32 i = these.starts[row == 0 ? 0 : changes_up_to(these.numbers, rows, row - 1)];
    u32 groups = (count + SCAN_GROUP - 1) / SCAN_GROUP;
    new_pointers[row] = pointers[row] + (i < count ? changes_before(known, i) : known.sums[groups]);
}

// Builds the changed matrix, with its coefficients in the order of its non-zeros behind 1 and −1. One work-item per old
// non-zero, then one per change.
KERNEL(SCAN_GROUP)
void delta_merge(delta_params_t params, GLOBAL const u32 *changes, GLOBAL const F(t) *values, GLOBAL u32 *marks,
                 GLOBAL const u32 *entries, GLOBAL const u32 *indices, GLOBAL const F(t) *dictionary,
                 GLOBAL u32 *new_columns, GLOBAL F(t) *coefficients) {
    csr_t a = CSR_MATRIX;
    u32 count = params.count, rows = params.rows, nonzeros = params.nonzeros;
    changes_t these = changes_of(count, rows, changes);
    marks_t known = changes_marks(count, marks);
    u64 number = (u64)GROUP_ID * SCAN_GROUP + LOCAL_ID;
    if (number < 2) coefficients[number] = dictionary[number];
    if (number < nonzeros) {
        u32 k = (u32)number, index, column = csr_entry(a, k, &index), more = 0;
        u32 earlier = changes_up_to(known.places, count, k);
        F(t) value = dictionary[index];
        if (earlier > 0) {
            u32 i = earlier - 1, kind = known.kinds[i];
            // Of the changes up to this non-zero, only the last one can be at its place.
            bool same = known.places[i] == k && (kind == CHANGES_KEEPS || kind == CHANGES_REMOVES);
            more = changes_before(known, i);
            if (same && kind == CHANGES_REMOVES) return;
            if (same) value = F(add)(value, values[i]);
            else more += changes_more(kind);
        }
        new_columns[k + more] = column;
        coefficients[(u64)(k + more) + 2] = value;
    } else if (number - nonzeros < count) {
        u32 i = (u32)(number - nonzeros);
        if (known.kinds[i] != CHANGES_INSERTS) return;
        u32 place = known.places[i] + changes_before(known, i);
        new_columns[place] = these.columns[i] & ~CHANGE_REPLACES;
        coefficients[(u64)place + 2] = values[i];
    }
}
