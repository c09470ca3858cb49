// The device and its memory, and sppark's own list of devices.

#include <util/all_gpus.cpp>
#include <util/rusterror.h>

#ifndef __CUDA_ARCH__
static RustError::by_value result(cudaError_t code)
{   return code == cudaSuccess ? RustError{0} : RustError{code, cudaGetErrorString(code)};   }

// Copies the name of the device that sppark takes, which is the first, as a string of at most `size` bytes.
extern "C" RustError::by_value peer_device_name(char* name, size_t size)
{
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess)
        return result(code);
    if (!cuda_available())
        return RustError{-1, "no device that sppark takes"};
    snprintf(name, size, "%s", gpu_props(0).name);
    return RustError{0};
}

extern "C" RustError::by_value peer_upload(void** out, const void* from, size_t bytes)
{
    cudaError_t code = cudaMalloc(out, bytes);
    if (code == cudaSuccess)
        code = cudaMemcpy(*out, from, bytes, cudaMemcpyHostToDevice);
    // A copy from pageable memory may return before it has reached the device, and sppark's streams do not wait for
    // the default one.
    if (code == cudaSuccess)
        code = cudaDeviceSynchronize();
    return result(code);
}

extern "C" RustError::by_value peer_download(void* to, const void* from, size_t bytes)
{   return result(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));   }

extern "C" void peer_free(void* memory)
{   (void)cudaFree(memory);   }
#endif
