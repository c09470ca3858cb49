// Exclusive prefix sums of u32, in blocks of SCAN_BLOCK; larger vectors by recursion over block sums.

#define SCAN_GROUP 256
#define SCAN_ITEMS 8
#define SCAN_BLOCK (SCAN_GROUP * SCAN_ITEMS)

// Exclusive prefix of one value a work-item over the group (Hillis and Steele); *total is the group's sum.
DEVICE u32 scan_group(LOCAL_POINTER u32 *sums, u32 value, u32 *total) {
    sums[LOCAL_ID] = value;
    BARRIER();
    for (u32 distance = 1; distance < SCAN_GROUP; distance <<= 1) {
        u32 left = LOCAL_ID >= distance ? sums[LOCAL_ID - distance] : 0;
        BARRIER();
        sums[LOCAL_ID] += left;
        BARRIER();
    }
    *total = sums[SCAN_GROUP - 1];
    u32 inclusive = sums[LOCAL_ID];
    BARRIER();
    return inclusive - value;
}

// out[i] = sum of the block's in[j], j < i; sums[block] = the block's sum. in and out may be the same.
// Grid: one group per block. The value one past the end counts as zero, so out may be n + 1 long.
KERNEL(SCAN_GROUP)
void scan_blocks(u32 n, u32 out_length, GLOBAL const u32 *in, GLOBAL u32 *out, GLOBAL u32 *sums) {
    LOCAL u32 shared[SCAN_GROUP];
    u32 base = GROUP_ID * SCAN_BLOCK + LOCAL_ID * SCAN_ITEMS;
    u32 values[SCAN_ITEMS], sum = 0, total;
    for (u32 i = 0; i < SCAN_ITEMS; i++) {
        values[i] = base + i < n ? in[base + i] : 0;
        sum += values[i];
    }
    u32 prefix = scan_group(shared, sum, &total);
    for (u32 i = 0; i < SCAN_ITEMS; i++) {
        if (base + i < out_length) out[base + i] = prefix;
        prefix += values[i];
    }
    if (LOCAL_ID == 0) sums[GROUP_ID] = total;
}

// out[i] += prefix[block of i].
KERNEL(SCAN_GROUP)
void scan_add(u32 out_length, GLOBAL u32 *out, GLOBAL const u32 *prefix) {
    u32 base = GROUP_ID * SCAN_BLOCK;
    for (u32 i = LOCAL_ID; i < SCAN_BLOCK; i += SCAN_GROUP) {
        if (base + i < out_length) out[base + i] += prefix[GROUP_ID];
    }
}
