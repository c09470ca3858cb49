// Exclusive prefix sums of u32 within a group.

// Returns the exclusive prefix of one value per work-item over the group (Hillis and Steele); *total is the sum of the
// group.
DEVICE u32 scan_group(LOCAL_PTR u32 *sums, u32 value, u32 *total) {
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

// Scans `count` values in local memory, in place, and returns their sum. Every work-item has equally many neighbours.
DEVICE u32 scan_local(LOCAL_PTR u32 *values, u32 count, LOCAL_PTR u32 *scratch) {
    u32 share = (count + SCAN_GROUP - 1) / SCAN_GROUP, first = LOCAL_ID * share, sum = 0, total;
    u32 end = first + share < count ? first + share : count;
    for (u32 i = first; i < end; i++) sum += values[i];
    u32 prefix = scan_group(scratch, sum, &total);
    for (u32 i = first; i < end; i++) {
        u32 value = values[i];
        values[i] = prefix;
        prefix += value;
    }
    BARRIER();
    return total;
}
