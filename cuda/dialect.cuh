// The CUDA C++ side of the dialect in which all kernels are written; cl/dialect.cl is the other.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
#define KERNEL(group_size) extern "C" __global__ __launch_bounds__(group_size)
// Declares a kernel of which a multiprocessor runs `groups` groups at once, which bounds its registers.
#define KERNEL_BOUNDED(group_size, groups) extern "C" __global__ __launch_bounds__(group_size, groups)
#define DEVICE static __device__ __forceinline__
// Declares a function that is called, not inlined: long point formulas appear once in a program.
#define DEVICE_NOINLINE static __device__ __noinline__
#define GLOBAL
#define LOCAL __shared__
#define LOCAL_PTR
#define ALIGNED(bytes) __align__(bytes)
// Qualifies a structure that a kernel takes by value: its fields stay in constant memory until they are used.
#define GRID_CONSTANT const __grid_constant__
#define CONSTANT static __device__ __constant__
#define GROUP_ID blockIdx.x
#define GROUPS gridDim.x
#define LOCAL_ID threadIdx.x
#define GLOBAL_ID (blockIdx.x * blockDim.x + threadIdx.x)
#define GLOBAL_SIZE (gridDim.x * blockDim.x)
#define BARRIER() __syncthreads()
#define GLOBAL_BARRIER() __syncthreads()
// Groups that invert, and that share a multiprocessor. The field sources declare the number.
#define INVERSE_OCCUPANCY (FIELD_WORDS > 12 ? INVERSE_GROUPS_PER_UNIT / 2 : INVERSE_GROUPS_PER_UNIT)
// Groups of bucket accumulation that share a multiprocessor: 128 registers with 8 limbs, 168 with 12, where their
// number counts for more than a few spilled words.
#define ACCUMULATE_OCCUPANCY (FIELD_WORDS > 12 ? 2 : FIELD_WORDS > 8 ? 3 : 4)
// Groups of bucket reduction that share a multiprocessor: 128 registers with 8 limbs, 168 with 12.
#define REDUCE_OCCUPANCY (FIELD_WORDS > 12 ? 4 : FIELD_WORDS > 8 ? 6 : 8)
// Maximum entries of a group of the sort. The MSM declares both numbers.
#define SORT_TILE_MAX CUDA_SORT_TILE
// Copies whole words from global to shared memory asynchronously; ASYNC_WAIT waits for all such copies of the work-item
// (PTX ISA, cp.async). Devices before 8.0 copy synchronously.
#if __CUDA_ARCH__ >= 800
#define ASYNC_COPY(to, from) \
    async_copy<sizeof(to) % 16 == 0 ? 16 : sizeof(to) % 8 == 0 ? 8 : 4>(&(to), &(from), sizeof(to))
#define ASYNC_WAIT() asm volatile("cp.async.wait_all;" ::: "memory")
template <int step> DEVICE void async_copy(void *to, const void *from, int bytes) {
    u32 address = (u32)__cvta_generic_to_shared(to);
#pragma unroll
    for (int at = 0; at < bytes; at += step)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address + at), "l"((const char *)from + at),
                     "n"(step)
                     : "memory");
}
#else
#define ASYNC_COPY(to, from) (to) = (from)
#define ASYNC_WAIT()
#endif
// Four neighbours in a warp wait for each other.
#define QUAD_BARRIER() __syncwarp()
// The work-items of a group of 32 wait for each other.
#define WARP_BARRIER() __syncwarp()
// Scheduling fence: keeps computations on `word` from being hoisted above the loops that take all registers.
#define SCHEDULE_FENCE(word) asm volatile("" : "+r"(word))
#define POPCOUNT(value) __popc(value)
#define ATOMIC_ADD(pointer, value) atomicAdd(pointer, value)
#define ATOMIC_MIN(pointer, value) atomicMin(pointer, value)
// Compares and swaps: writes `value` if there is `expected`, and returns the old value.
#define ATOMIC_CAS(pointer, expected, value) atomicCAS(pointer, expected, value)
#define HAS_PTX
// Defined if groups may wait for others: CUDA only, where groups that have started run on, whatever others do.
#define HAS_FORWARD_PROGRESS
// Programmatic dependent launch (CUDA programming guide): kernels start before those ahead of them in their stream have
// ended. PDL_KERNEL declares such a kernel, and backend/cuda looks for the declaration. PDL_WAIT waits, before
// the kernel touches what others write. PDL_TRIGGER lets the next kernel start as soon as all groups have run it.
#if __CUDA_ARCH__ >= 900
#define PDL_KERNEL(kernel) extern "C" __device__ u32 starts_early_##kernel = 1;
#define PDL_WAIT() asm volatile("griddepcontrol.wait;" ::: "memory")
#define PDL_TRIGGER() asm volatile("griddepcontrol.launch_dependents;")
#else
#define PDL_KERNEL(kernel)
#define PDL_WAIT()
#define PDL_TRIGGER()
#endif
// Returns a ticket for the group: tickets count the groups in the order in which they start. `shared` is free local
// memory.
DEVICE u32 grid_ticket(u32 *counter, u32 *shared) {
    if (LOCAL_ID == 0) *shared = atomicAdd(counter, 1);
    BARRIER();
    u32 ticket = *shared;
    BARRIER();
    return ticket;
}
// Counts the group, by one work-item, and returns how many did so before. The reads of the group have ended by then,
// and groups that count later see the writes of the work-item.
DEVICE u32 grid_arrive(u32 *counter) {
    __threadfence();
    return atomicAdd(counter, 1);
}
// Returns whether the group is the last one to arrive. That group sees what the others wrote before they arrived, and
// resets the counter to zero. `shared` is free local memory.
DEVICE bool grid_is_last(u32 *counter, u32 *shared) {
    if (LOCAL_ID == 0) {
        *shared = grid_arrive(counter) + 1 == GROUPS;
        if (*shared) *counter = 0;
        __threadfence();
    }
    BARRIER();
    bool last = *shared;
    BARRIER();
    return last;
}
// Tells the host a number, for which it looks in pinned memory, after all writes of the work-item there.
DEVICE void signal_host(u32 *word, u32 number) {
    __threadfence_system();
    *(volatile u32 *)word = number;
}
// Waits, as a group, until the counter has come to `count`.
DEVICE void grid_wait(u32 *counter, u32 count) {
    if (LOCAL_ID == 0)
        while (*(volatile u32 *)counter < count) __nanosleep(100);
    BARRIER();
}
