// The CUDA C++ side of the dialect in which all kernels are written; cl/dialect.cl is the other.
typedef unsigned int u32;
typedef unsigned long long u64;
#define KERNEL(group_size) extern "C" __global__ __launch_bounds__(group_size)
#define DEVICE static __device__ __forceinline__
// A function that is called, not inlined: long point formulas appear once in a program.
#define DEVICE_CALL static __device__ __noinline__
#define GLOBAL
#define LOCAL __shared__
#define LOCAL_POINTER
#define ALIGNED(bytes) __align__(bytes)
#define CONSTANT static __device__ __constant__
#define GROUP_ID blockIdx.x
#define GROUPS gridDim.x
#define LOCAL_ID threadIdx.x
#define GLOBAL_ID (blockIdx.x * blockDim.x + threadIdx.x)
#define GLOBAL_SIZE (gridDim.x * blockDim.x)
#define BARRIER() __syncthreads()
// Four neighbours in a warp wait for each other.
#define QUAD_BARRIER() __syncwarp()
#define ATOMIC_ADD(pointer, value) atomicAdd(pointer, value)
#define ATOMIC_MIN(pointer, value) atomicMin(pointer, value)
#define HAS_PTX
