# shellcheck shell=bash disable=SC2046,SC2086,SC2034
# Functions of tools/assay and tools/check: bring what is missing to build and run Assay, and build it.
# Everything here talks to standard error; standard output belongs to the program.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
jobs=$(nproc)

# Environment lacks something: exit 4. Our own fault (a build that fails): exit 70.
say() { printf 'assay: %s\n' "$*" >&2; }
give_up() { local code=$1; shift; say "$@"; exit "$code"; }

# Debian's names. The compiler is the newest LLVM of 22 to 19 that the system has whole or can get.
llvm_versions="22 21 20 19"
llvm_packages() { echo "clang-$1 llvm-$1-dev libclang-rt-$1-dev"; }
lint_packages() { echo "clang-format-$1 clang-tidy-$1 git"; }
library_packages="cmake ninja-build libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libmuparser-dev
  librandom123-dev libzip-dev libpugixml-dev libmpfr-dev libboost-context-dev libxxhash-dev zlib1g-dev
  libgtest-dev libgmock-dev libbenchmark-dev"

# For kernels in MLIR's gpu dialect; all else works without. Not every Debian has it.
optional_packages="mlir-22-tools"

# NVIDIA's wheels: the compiler, and the headers that kernels include. One release, so that they fit each other.
cuda_wheels="nvidia-cuda-nvrtc==13.0.* nvidia-cuda-runtime==13.0.* nvidia-cuda-crt==13.0.* nvidia-cuda-cccl==13.0.*"
triton_wheel="triton==3.9.0"
oldest_nvrtc=12
libdevice_wheel="nvidia-nvvm==13.0.*" # for math.exp and the like in MLIR, where no toolkit has it

missing_of() { # the packages among the arguments that are not installed
  dpkg-query -W -f='${binary:Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    awk -v wanted="$*" '$2 == "installed" { sub(/:.*/, "", $1); have[$1] = 1 }
      END { n = split(wanted, name, " "); for (i = 1; i <= n; ++i) if (!(name[i] in have)) print name[i] }'
}

choose_llvm() { # sets llvm
  local version
  for version in $llvm_versions; do
    llvm=$version
    [ -z "$(missing_of $(llvm_packages "$version"))" ] && return
  done
  for version in $llvm_versions; do
    llvm=$version
    apt-cache policy "clang-$version" 2>/dev/null | grep -q 'Candidate: [0-9]' && return
  done
  llvm=${llvm_versions%% *}
}

# Is there a CUDA toolkit of version $oldest_nvrtc or newer, with headers, below $1? As in harness/compile/toolkit.h.
is_toolkit() {
  local place=$1 header file
  for header in cuda_runtime.h cuda_fp16.h crt/mma.h cuda/std/cstdint; do
    [ -e "$place/include/$header" ] || [ -e "$place/include/cccl/$header" ] || return 1
  done
  for file in "$place"/lib64/libnvrtc.so.* "$place"/lib/libnvrtc.so.* "$place"/lib/x86_64-linux-gnu/libnvrtc.so.* \
    "$place"/targets/x86_64-linux/lib/libnvrtc.so.*; do
    file=${file##*.so.}
    case $file in *[!0-9]*) ;; *) [ "$file" -ge $oldest_nvrtc ] && return ;; esac
  done
  return 1
}

have_cuda() {
  local place library
  for place in "$build"/cuda/nvidia/*; do is_toolkit "$place" && return; done
  [ "${ASSAY_IGNORE_TOOLKIT:-0}" != 0 ] && return 1
  for place in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [ -n "$place" ] && is_toolkit "$place" && return
  done
  while read -r library; do
    is_toolkit "$(dirname "$(dirname "$(readlink -f "$library")")")" && return
  done < <({
    tr ':' '\n' <<<"${LD_LIBRARY_PATH:-}" | sed -n 's|.$|&/libnvrtc.so|p'
    ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null
  } | sed -n 's|^.*=> ||; /libnvrtc\.so/p')
  return 1
}

python_with_pip() { # prints one
  local python
  for python in python3 /usr/bin/python3; do
    "$python" -m pip --version >/dev/null 2>&1 && echo "$python" && return
  done
  return 1
}

may_install() { [ "$(id -u)" = 0 ] && [ -z "${ASSAY_NO_INSTALL:-}" ]; }

apt() { DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" >>"$build/setup.log" 2>&1; }

fetch_cuda() {
  local python new=$build/cuda.new wheel
  python=$(python_with_pip) || return 1
  say "downloading NVRTC and the CUDA headers (NVIDIA's wheels, 90 MB)"
  rm -rf "$new" && mkdir -p "$new/wheels"
  "$python" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$new/wheels" $cuda_wheels \
    >>"$build/setup.log" 2>&1 || { rm -rf "$new"; return 1; }
  for wheel in "$new"/wheels/*.whl; do "$python" -m zipfile -e "$wheel" "$new" || return 1; done
  rm -rf "$new/wheels" "$build/cuda" && mv "$new" "$build/cuda"
  have_cuda
}

# What only MLIR kernels need: tried, and where it fails said by whoever runs such a kernel.
install_optional() {
  local missing python place new=$build/cuda.optional
  may_install || return 0
  missing=$(missing_of $optional_packages | xargs)
  if [ -n "$missing" ]; then
    apt-cache policy $missing 2>/dev/null | grep -q 'Candidate: [0-9]' || apt update
    say "installing $missing, for kernels in MLIR"
    apt install --no-install-recommends $missing || say "$missing cannot be installed; kernels in MLIR will not run"
  fi
  for place in "$build"/cuda/nvidia/* "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [ "${ASSAY_IGNORE_TOOLKIT:-0}" != 0 ] && [[ $place != "$build"/* ]] && continue
    [ -f "$place/nvvm/libdevice/libdevice.10.bc" ] && return
  done
  python=$(python_with_pip) && place=$(echo "$build"/cuda/nvidia/*/) && [ -d "$place" ] || return 0
  say "downloading NVIDIA's libdevice, for kernels in MLIR (60 MB)"
  rm -rf "$new" && mkdir -p "$new"
  "$python" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: -d "$new" "$libdevice_wheel" \
    >>"$build/setup.log" 2>&1 && "$python" -m zipfile -e "$new"/*.whl "$new" &&
    mkdir -p "$place/nvvm/libdevice" && cp "$new"/nvidia/*/nvvm/libdevice/libdevice.10.bc "$place/nvvm/libdevice/" ||
    say "no libdevice; MLIR kernels that call math.exp and the like will not run"
  rm -rf "$new"
}

# Triton, with which tests make the stored PTX again; where there is none they are skipped, and say so.
fetch_triton() {
  local python new=$build/triton.new
  [ -d "$build/triton" ] && return
  [ -z "${ASSAY_NO_INSTALL:-}" ] && python=$(python_with_pip) || return 0
  say "downloading Triton, to make the stored PTX again (190 MB)"
  rm -rf "$new"
  if "$python" -m pip install -q --disable-pip-version-check --no-deps --only-binary=:all: --target "$new" "$triton_wheel" \
    >>"$build/setup.log" 2>&1; then mv "$new" "$build/triton"; else
    rm -rf "$new"
    say "Triton cannot be had; the stored PTX is not made again"
  fi
}

# Brings the Debian packages (those for linting too if $1 is "lint") and NVRTC, or says exactly what is missing.
install_missing() {
  local packages missing need_cuda="" how
  if ! command -v dpkg-query >/dev/null; then
    llvm=$(for v in $llvm_versions; do command -v "clang++-$v" >/dev/null && echo "$v" && break; done)
    [ -n "$llvm" ] && command -v cmake >/dev/null && command -v ninja >/dev/null ||
      give_up 4 "this is no Debian system; install the likes of $(llvm_packages 22) $(echo $library_packages)"
    have_cuda || fetch_cuda || give_up 4 "no NVRTC: install a CUDA toolkit of version $oldest_nvrtc or newer and set CUDA_HOME"
    return
  fi
  choose_llvm
  packages="$(llvm_packages "$llvm") $library_packages"
  [ "${1:-}" = lint ] && packages="$packages $(lint_packages "$llvm")"
  have_cuda || need_cuda=yes
  [ -n "$need_cuda" ] && ! python_with_pip >/dev/null && packages="$packages python3-pip ca-certificates"
  missing=$(missing_of $packages | xargs)
  if [ -n "$missing" ] && may_install; then
    say "reading Debian's package lists"
    apt update || say "apt-get update failed (see build/setup.log); trying with the lists that are here"
    local before=$llvm
    choose_llvm # the lists may offer a newer one now
    missing=$(missing_of $(sed "s/-$before\b/-$llvm/g" <<<"$packages") | xargs)
    say "installing $(wc -w <<<"$missing") Debian packages: $missing"
    apt install --no-install-recommends $missing
    missing=$(missing_of $missing | xargs)
  fi
  [ -z "$missing" ] && [ -n "$need_cuda" ] && [ -z "${ASSAY_NO_INSTALL:-}" ] && fetch_cuda && need_cuda=""
  [ -z "$missing" ] && [ -z "$need_cuda" ] && return
  how=""
  [ -n "$missing" ] && how="Debian packages are missing; as root: apt-get install $missing"
  [ -n "$need_cuda" ] && how="${how:+$how
assay: and }NVRTC and the CUDA headers are missing: install a CUDA toolkit of version $oldest_nvrtc or newer and set CUDA_HOME, or: python3 -m pip download --no-deps -d wheels $(sed 's/\([^ ]*\)/"\1"/g' <<<"$cuda_wheels") and unzip them into $build/cuda"
  give_up 4 "$how"
}

# Looks for what is missing only where something can have changed since it last found everything.
set_up() {
  local stamp=$build/setup.stamp kind=${1:-plain} version found_kind
  mkdir -p "$build" || give_up 4 "cannot write below $root"
  version=$(cksum <"$root/tools/setup.sh")
  if { read -r found_kind llvm && read -r; } 2>/dev/null <"$stamp" && [ "$REPLY" = "$version" ] &&
    [[ $kind = plain || $found_kind = lint ]] && command -v "clang++-$llvm" >/dev/null && have_cuda; then return; fi
  : >"$build/setup.log"
  install_missing "$kind"
  install_optional
  printf '%s %s\n%s\n' "$kind" "$llvm" "$version" >"$stamp"
}

configure() { # a preset
  local log=$build/$1.configure.log
  [ -f "$build/$1/build.ninja" ] && grep -q "^CMAKE_CXX_COMPILER:.*clang++-$llvm\$" "$build/$1/CMakeCache.txt" && return
  say "configuring ($1, clang $llvm)"
  local fresh=""
  [ -f "$build/$1/CMakeCache.txt" ] && fresh=--fresh
  (cd "$root" && cmake $fresh --preset "$1" -DCMAKE_C_COMPILER="clang-$llvm" -DCMAKE_CXX_COMPILER="clang++-$llvm" \
    -DLLVM_DIR="/usr/lib/llvm-$llvm/cmake") >"$log" 2>&1 && return
  grep -A8 'CMake Error' "$log" >&2
  give_up 70 "configuring failed; the whole log is $log"
}

# Passes ninja's progress on: one live line on a terminal, else a line every quarter; the rest only where it fails.
show_progress() {
  local line done_count total shown=0
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    done_count=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    if [ -t 2 ]; then
      printf '\rassay: building %d/%d ' "$done_count" "$total" >&2
    elif [ "$total" -gt 3 ] && [ $((done_count * 4 / total)) -gt "$shown" ]; then
      shown=$((done_count * 4 / total))
      say "building $done_count/$total"
    fi
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
}

build_targets() { # a preset, then targets; every one that can be built is, even if another fails
  local preset=$1 log=$build/$1.build.log
  shift
  ninja -C "$build/$preset" -k 0 "$@" 2>&1 | tee "$log" | show_progress
  [ "${PIPESTATUS[0]}" != 0 ] || return 0
  sed -n '/^FAILED\|CMake Error\|^ninja: error/,$p' "$log" | grep -vE '^\[[0-9]+/[0-9]+\]|^ninja: build stopped' | head -60 >&2
  say "the build failed; the whole log is $log"
  return 1
}
