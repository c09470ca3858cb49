// Names that make one text both OpenCL C and CUDA C++.

#ifdef __CUDACC__
#define CUDA
#define DEVICE static __device__ inline
#define DEVICE_CALL static __device__ __noinline__
#define KERNEL extern "C" __global__
#define GLOBAL
#define LOCAL __shared__
#define CONSTANT __constant__
#define GET_GLOBAL_ID() (blockIdx.x * blockDim.x + threadIdx.x)
#define GET_GROUP_ID() (blockIdx.x)
#define GET_LOCAL_ID() (threadIdx.x)
#define GET_LOCAL_SIZE() (blockDim.x)
#define BARRIER_LOCAL() __syncthreads()
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define MUL_HI_64(a, b) __umul64hi(a, b)
// Shared memory whose size the launch sets; kernels cast it to their element type.
extern __shared__ uchar cuda_shared[];
#else
#define DEVICE
#define DEVICE_CALL
#define KERNEL __kernel
#define GLOBAL __global
#define LOCAL __local
#define CONSTANT __constant
#define GET_GLOBAL_ID() get_global_id(0)
#define GET_GROUP_ID() get_group_id(0)
#define GET_LOCAL_ID() get_local_id(0)
#define GET_LOCAL_SIZE() get_local_size(0)
#define BARRIER_LOCAL() barrier(CLK_LOCAL_MEM_FENCE)
#define MUL_HI_64(a, b) mul_hi(a, b)
#endif

// PASTE(Field, add) is Field_add, with macros in its arguments expanded.
#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define F(operation) PASTE(FIELD, operation)
#define SUB(operation) PASTE(SUBFIELD, operation)

// Returns the low half of a·b + c + *carry, and sets *carry to the high half. The sum cannot overflow.
DEVICE uint mac_with_carry_32(uint a, uint b, uint c, uint *carry) {
    ulong sum = (ulong)a * b + c + *carry;
    *carry = (uint)(sum >> 32);
    return (uint)sum;
}

DEVICE ulong mac_with_carry_64(ulong a, ulong b, ulong c, ulong *carry) {
    ulong low = a * b, high = MUL_HI_64(a, b);
    low += c;
    high += low < c;
    low += *carry;
    high += low < *carry;
    *carry = high;
    return low;
}

DEVICE uint bitreverse(uint n, uint bits) {
    uint reversed = 0;
    for (uint i = 0; i < bits; i++, n >>= 1) reversed = (reversed << 1) | (n & 1);
    return reversed;
}
