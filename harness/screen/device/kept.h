// Numbers that several lines of a case share.
#pragma once

#include <cstdint>

namespace assay::screen {

template <class J, class N> class Run;

// An element of a Run's scratch. What a whole line assigns one of its threads stores, before any goes on.
template <class J, class N> class Kept {
 public:
  __forceinline__ Kept(const Run<J, N>& run, N& number) : run_(run), number_(number) {}
  __forceinline__ operator N() const {
    if constexpr (requires { number_.kept(); })
      return number_.kept();
    else
      return number_;
  }
  __forceinline__ void operator=(const N& v) const {
    const bool whole = !run_.inside && run_.team.lanes > 1;
    if (!whole || run_.team.lane == 0) number_ = v;
    if (whole) run_.team.sync();
  }

 private:
  const Run<J, N>& run_;
  N& number_;
};
template <class J, class N> struct KeptNumbers {
  const Run<J, N>& run;
  N* numbers;
  __forceinline__ Kept<J, N> operator[](std::int64_t i) const { return {run, numbers[i]}; }
};

} // namespace assay::screen
