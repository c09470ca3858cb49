// The OpenCL C 1.2 side of the dialect in which all kernels are written; cuda/dialect.cuh is the other.
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef int i32;
typedef long i64;
#define KERNEL(group_size) __kernel __attribute__((reqd_work_group_size(group_size, 1, 1)))
// Declares a kernel. A multiprocessor runs `groups` groups of it at once, if the compiler takes such a bound.
#define KERNEL_BOUNDED(group_size, groups) KERNEL(group_size)
// AMD's clang emits no function of `inline` alone, so a call that it does not inline would have no function.
#ifdef __AMDGCN__
#define DEVICE static inline
#else
#define DEVICE inline
#endif
// Declares a function that is called, not inlined: long point formulas appear once in a program.
#define DEVICE_NOINLINE __attribute__((noinline))
#define GLOBAL __global
#define LOCAL __local
#define LOCAL_PTR __local
#define ALIGNED(bytes) __attribute__((aligned(bytes)))
// Qualifies a structure that a kernel takes by value.
#define GRID_CONSTANT const
#define CONSTANT __constant
#define GROUP_ID ((u32)get_group_id(0))
#define GROUPS ((u32)get_num_groups(0))
#define LOCAL_ID ((u32)get_local_id(0))
#define GLOBAL_ID ((u32)get_global_id(0))
#define GLOBAL_SIZE ((u32)get_global_size(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
// Synchronises a group that also reads or overwrites in global memory what its other work-items wrote or read.
#define GLOBAL_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
// Programmatic dependent launch, CUDA only: kernels start before those ahead of them have ended.
#define PDL_KERNEL(kernel)
#define PDL_WAIT()
#define PDL_TRIGGER()
// Maximum entries of a group of the sort. The MSM declares both numbers.
#define SORT_TILE_MAX OPENCL_SORT_TILE
#define QUAD_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define WARP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
// Scheduling fence: keeps computations on `word` from being hoisted and spilled. No-op in OpenCL.
#define SCHEDULE_FENCE(word)
#define POPCOUNT(value) popcount(value)
// Copies to local memory: synchronously here, asynchronously in CUDA.
#define ASYNC_COPY(to, from) (to) = (from)
#define ASYNC_WAIT()
#define ATOMIC_ADD(pointer, value) atomic_add(pointer, value)
#define ATOMIC_MIN(pointer, value) atomic_min(pointer, value)
// Compares and swaps: writes `value` if there is `expected`, and returns the old value.
#define ATOMIC_CAS(pointer, expected, value) atomic_cmpxchg(pointer, expected, value)
#if defined(__NV_CL_C_VERSION)
// The NVIDIA compiler takes PTX inside OpenCL C.
#define HAS_PTX
#endif
