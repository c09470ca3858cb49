// An interpreter that evaluates lowered polynomial expressions row by row (src/expression/program.rs).
//
// All values are reduced and in Montgomery form. All work-items run the same instructions on rows of their own, so
// every branch on an instruction is uniform. The table holds quads of words, from these quads on:
//   0           instructions: [operation | target, a, b, c], operands as kind << OPERAND_BITS | number;
//   queries_at  queries: [number of the buffer, rotation mod n, first element of the column as two words, low first];
//   outputs_at  outputs: as queries, without buffer and rotation;
//   values_at   elements that are equal in every row.
// The first word of an instruction:
//   bits below TARGET_BITS           number of the target
//   bits TARGET_BITS and up          kind of the target, four bits
//   bits COMBINE_SHIFT and up        how c is combined with the value, two bits, 0 if not at all
//   OPERATION_PRODUCT                whether a is multiplied by b
// Columns are never written: the host refuses columns that overlap outputs.
//
// Slots are in local memory, which can be indexed by a number, in quads: [slot][quad][work-item], so that neighbours
// read neighbouring quads. Scratch memory: [number][work-item].

#define SLOT_QUADS (FIELD_WORDS / 4)

typedef struct ALIGNED(16) {
    u32 word[4];
} expression_quad_t;

// Holds the values that the instructions of a row read and write.
typedef struct {
    GLOBAL const expression_quad_t *queries, *outputs;
    GLOBAL const F(t) *values, *from0, *from1, *from2, *from3;
    GLOBAL F(t) *to, *scratch;
    LOCAL_PTR expression_quad_t *slots;
    u32 row, mask;
    F(t) x;
} expression_row_t;

DEVICE u64 expression_first(expression_quad_t quad) {
    return (u64)quad.word[3] << 32 | quad.word[2];
}

DEVICE F(t) expression_column(const expression_row_t *at, u32 number) {
    expression_quad_t query = at->queries[number];
    u32 which = query.word[0];
    GLOBAL const F(t) *from = which == 0 ? at->from0 : which == 1 ? at->from1 : which == 2 ? at->from2 : at->from3;
    return from[expression_first(query) + ((at->row + query.word[1]) & at->mask)];
}

DEVICE u64 expression_output(const expression_row_t *at, u32 number) {
    return expression_first(at->outputs[number]) + at->row;
}

DEVICE u64 expression_scratch(u32 number) {
    return (u64)number * GLOBAL_SIZE + GLOBAL_ID;
}

DEVICE F(t) expression_slot(const expression_row_t *at, u32 number) {
    F(t) value;
#pragma unroll
    for (u32 quad = 0; quad < SLOT_QUADS; quad++) {
        expression_quad_t words = at->slots[(number * SLOT_QUADS + quad) * EXPRESSION_GROUP + LOCAL_ID];
#pragma unroll
        for (u32 i = 0; i < 4; i++) value.limb[4 * quad + i] = words.word[i];
    }
    return value;
}

DEVICE void expression_set_slot(const expression_row_t *at, u32 number, F(t) value) {
#pragma unroll
    for (u32 quad = 0; quad < SLOT_QUADS; quad++) {
        expression_quad_t words;
#pragma unroll
        for (u32 i = 0; i < 4; i++) words.word[i] = value.limb[4 * quad + i];
        at->slots[(number * SLOT_QUADS + quad) * EXPRESSION_GROUP + LOCAL_ID] = words;
    }
}

DEVICE F(t) expression_read(const expression_row_t *at, u32 operand) {
    u32 number = operand & ((1u << OPERAND_BITS) - 1);
    switch (operand >> OPERAND_BITS) {
    case KIND_SLOT:
        return expression_slot(at, number);
    case KIND_SCRATCH:
        return at->scratch[expression_scratch(number)];
    case KIND_VALUE:
        return at->values[number];
    case KIND_QUERY:
        return expression_column(at, number);
    case KIND_X:
        return at->x;
    default:
        return at->to[expression_output(at, number)];
    }
}

DEVICE void expression_write(const expression_row_t *at, u32 operation, F(t) value) {
    u32 number = operation & ((1u << TARGET_BITS) - 1);
    switch (operation >> TARGET_BITS & 15) {
    case KIND_SLOT:
        expression_set_slot(at, number, value);
        break;
    case KIND_SCRATCH:
        at->scratch[expression_scratch(number)] = value;
        break;
    default:
        at->to[expression_output(at, number)] = value;
    }
}

DEVICE F(t) expression_combine(u32 how, F(t) value, F(t) with) {
    if (how == COMBINE_ADD) return F(add)(value, with);
    bool from = how == COMBINE_SUBTRACT_FROM;
    return F(sub)(from ? with : value, from ? value : with);
}

DEVICE void expression_step(const expression_row_t *at, expression_quad_t instruction) {
    u32 operation = instruction.word[0], how = operation >> COMBINE_SHIFT & 3;
    F(t) value = expression_read(at, instruction.word[1]);
    if (operation & OPERATION_PRODUCT) value = F(mul)(value, expression_read(at, instruction.word[2]));
    if (how != 0) value = expression_combine(how, value, expression_read(at, instruction.word[3]));
    expression_write(at, operation, value);
}

// Evaluates all 2^log_n rows, log_n ≤ 31, on any grid. The point of row i is the product of points[i & (2^low_log − 1)]
// and points[2^low_log + (i >> low_log)].
KERNEL(EXPRESSION_GROUP)
void expression_rows(GRID_CONSTANT expression_params_t params, GLOBAL const expression_quad_t *table,
                     GLOBAL const F(t) *points, GLOBAL const F(t) *from0, GLOBAL const F(t) *from1,
                     GLOBAL const F(t) *from2, GLOBAL const F(t) *from3, GLOBAL F(t) *to, GLOBAL F(t) *scratch) {
    u32 instructions = params.instructions, low_log = params.low_log;
    LOCAL expression_quad_t slots[REGISTERS * SLOT_QUADS * EXPRESSION_GROUP];
    expression_row_t at;
    at.queries = table + params.queries_at;
    at.outputs = table + params.outputs_at;
    at.values = (GLOBAL const F(t) *)(table + params.values_at);
    at.from0 = from0;
    at.from1 = from1;
    at.from2 = from2;
    at.from3 = from3;
    at.to = to;
    at.scratch = scratch;
    at.slots = slots;
    at.mask = (1u << params.log_n) - 1;
    at.x = F(zero)();
    for (u32 row = GLOBAL_ID; row <= at.mask; row += GLOBAL_SIZE) {
        at.row = row;
        if (low_log != NO_POINTS)
            at.x = F(mul)(points[row & ((1u << low_log) - 1)], points[(1u << low_log) + (row >> low_log)]);
        // Prefetches the next instruction while this one runs.
        expression_quad_t next = table[0];
        for (u32 k = 0; k < instructions; k++) {
            expression_quad_t instruction = next;
            next = table[k + 1 < instructions ? k + 1 : k];
            expression_step(&at, instruction);
        }
    }
}
