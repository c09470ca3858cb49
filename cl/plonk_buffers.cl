// Columns in several buffers, and the parameters by which launches of plonk_*.cl get them.
//
// A launch knows BANKS buffers. The word of a column has the number of its buffer in the highest byte. Below that is
// the element of the buffer at which the column starts. Parameters are elements, then words, in one buffer. Each output
// has OUTPUT_WORDS words, and then each item one word per column. All values are reduced and in Montgomery form.

#define BANK_PARAMETERS                                                                                     \
    GLOBAL const F(t) *bank0, GLOBAL const F(t) *bank1, GLOBAL const F(t) *bank2, GLOBAL const F(t) *bank3, \
        GLOBAL const F(t) *bank4, GLOBAL const F(t) *bank5, GLOBAL const F(t) *bank6, GLOBAL const F(t) *bank7
#define BANKS {bank0, bank1, bank2, bank3, bank4, bank5, bank6, bank7}

typedef struct {
    GLOBAL const F(t) *b0, *b1, *b2, *b3, *b4, *b5, *b6, *b7;
} banks_t;

// Returns where a column starts.
DEVICE GLOBAL const F(t) *bank_column(banks_t banks, u64 word) {
    u32 number = (u32)(word >> BANK_SHIFT);
    GLOBAL const F(t) *bank = banks.b0;
    bank = number == 1 ? banks.b1 : bank;
    bank = number == 2 ? banks.b2 : bank;
    bank = number == 3 ? banks.b3 : bank;
    bank = number == 4 ? banks.b4 : bank;
    bank = number == 5 ? banks.b5 : bank;
    bank = number == 6 ? banks.b6 : bank;
    bank = number == 7 ? banks.b7 : bank;
    return bank + (word & (((u64)1 << BANK_SHIFT) - 1));
}

// Holds an output of a launch: its number, whether an earlier launch has begun it, its items, and one more word for its
// kernel.
typedef struct {
    u32 number;
    bool begun;
    u32 begin, end;
    u64 more;
} output_t;

DEVICE output_t plonk_output(GLOBAL const F(t) *params, u32 words_at, u32 at) {
    GLOBAL const u64 *words = (GLOBAL const u64 *)(params + words_at) + (u64)OUTPUT_WORDS * at;
    output_t output = {(u32)(words[0] >> 1), (words[0] & 1) != 0, (u32)words[1], (u32)words[2], words[3]};
    return output;
}

// Returns the words of the columns of the items.
DEVICE GLOBAL const u64 *plonk_columns(GLOBAL const F(t) *params, u32 words_at, u32 outputs) {
    return (GLOBAL const u64 *)(params + words_at) + (u64)OUTPUT_WORDS * outputs;
}

// Returns base^exponent, from tables of the powers by the low and the high bits of the exponent.
DEVICE F(t) plonk_power(GLOBAL const F(fixed) *low, GLOBAL const F(fixed) *high, u32 low_log, u32 exponent) {
    F(t) power = F(mul_fixed)(F(one)(), low[exponent & ((1u << low_log) - 1)]);
    return F(reduce)(F(mul_fixed)(power, high[exponent >> low_log]));
}
