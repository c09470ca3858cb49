// sppark's MSM and NTT of one curve behind plain functions. Compiled once for each curve: CURVE is the
// prefix of the functions, and FEATURE_… tells sppark which fields.
//
// sppark is made of headers whose kernels and classes have the same names for every curve. Two curves in
// one program therefore go into namespaces of their own; what does not depend on the curve, and every system
// header, is included before.

#include <cuda.h>
#include <cooperative_groups.h>
#include <cassert>
#include <iostream>
#include <vector>

#if defined(FEATURE_BLS12_381)
# include <ff/bls12-381.hpp>
#elif defined(FEATURE_BN254)
# include <ff/alt_bn128.hpp>
#else
# error "expected FEATURE_BLS12_381 or FEATURE_BN254"
#endif

#include <ec/jacobian_t.hpp>
#include <ec/xyzz_t.hpp>
#include <util/exception.cuh>
#include <util/gpu_t.cuh>
#include <util/rusterror.h>
#include <util/slice_t.hpp>
#include <util/vec2d_t.hpp>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

namespace JOIN(CURVE, _peer) {
using point_t = jacobian_t<fp_t>;
using bucket_t = xyzz_t<fp_t>;
using affine_t = bucket_t::affine_t;
using scalar_t = fr_t;
#include <msm/pippenger.cuh>
#include <ntt/ntt.cuh>
} // namespace

#ifndef __CUDA_ARCH__
using namespace JOIN(CURVE, _peer);
using msm = msm_t<bucket_t, point_t, affine_t, scalar_t>;

// Runs what may throw, as a result that Rust reads.
template<class F> static RustError::by_value caught(F run)
{
    try {
        return run();
    } catch (const cuda_error& e) {
        return RustError{e.code(), e.what()};
    } catch (const std::exception& e) {
        return RustError{-1, e.what()};
    }
}

// An engine without points of its own. sppark takes the width of windows from the number of points that it
// is told here, for any number of points later: 2^(w + 8) makes it w bits, w from 10 to 18.
extern "C" RustError::by_value JOIN(CURVE, _msm_new)(msm** out, uint32_t window_bits)
{
    return caught([&] {
        *out = new msm(nullptr, size_t(1) << (window_bits + 8));
        return RustError{0};
    });
}

extern "C" void JOIN(CURVE, _msm_free)(msm* engine)
{   delete engine;   }

// Points and scalars in pageable host memory; scalars are canonical.
extern "C" RustError::by_value JOIN(CURVE, _msm_host)(msm* engine, point_t* sum, const affine_t* points,
                                                      const scalar_t* scalars, size_t count)
{
    return caught([&] { return engine->invoke(*sum, points, count, scalars, false); });
}

// Points and scalars in device memory.
extern "C" RustError::by_value JOIN(CURVE, _msm_device)(msm* engine, point_t* sum, affine_t* points,
                                                        scalar_t* scalars, size_t count)
{
    return caught([&] {
        return engine->invoke(*sum, dev_ptr_t<affine_t>(points, count), count,
                              dev_ptr_t<scalar_t>(scalars, count), false);
    });
}

extern "C" RustError::by_value JOIN(CURVE, _ntt_host)(fr_t* values, uint32_t log_n)
{
    return caught([&] {
        return NTT::Base(select_gpu(), values, log_n, NTT::InputOutputOrder::NN, NTT::Direction::forward,
                         NTT::Type::standard);
    });
}

extern "C" RustError::by_value JOIN(CURVE, _ntt_device)(fr_t* values, uint32_t log_n)
{
    return caught([&] {
        stream_t& stream = select_gpu();
        NTT::Base_dev_ptr(stream, values, log_n, NTT::InputOutputOrder::NN, NTT::Direction::forward,
                          NTT::Type::standard);
        stream.sync();
        return RustError{0};
    });
}
#endif
