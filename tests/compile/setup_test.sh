#!/bin/bash
# What tools/setup.sh says and does where something is missing and may not be installed. $1: the source folder.
set -u
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/bin"
cp -r "$1/tools" "$place/tools"
failures=0
expect() { # a description, then a command that must succeed
  local what=$1
  shift
  "$@" || { echo "FAILED: $what"; cat "$place/err"; failures=$((failures + 1)); }
}

# dpkg-query as it is on a machine that lacks the packages named in $LACKS; it leaves a mark when it is asked.
cat >"$place/bin/dpkg-query" <<FAKE
#!/bin/bash
echo asked >>"$place/asked"
for package in "\$@"; do
  case \$package in -*) ;; *) [[ " \$LACKS " = *" \$package "* ]] || echo "\$package installed" ;; esac
done
FAKE
printf '#!/bin/bash\n' >"$place/bin/clang++-22"
chmod +x "$place"/bin/*
run() { # environment..., then runs tools/assay; its exit code
  env PATH="$place/bin:$PATH" ASSAY_NO_INSTALL=1 "$@" "$place/tools/assay" list >"$place/out" 2>"$place/err"
  code=$?
}

run LACKS="libfmt-dev libzip-dev" CUDA_HOME=/nonexistent
expect "missing packages exit with 4" [ $code = 4 ]
expect "the missing packages are named, in one command" grep -q 'apt-get install libfmt-dev libzip-dev$' "$place/err"
expect "standard output stays empty" [ ! -s "$place/out" ]

run LACKS="" ASSAY_IGNORE_TOOLKIT=1
expect "a missing NVRTC exits with 4" [ $code = 4 ]
for wheel in nvrtc runtime crt cccl; do
  expect "the wheel of $wheel is named" grep -q "nvidia-cuda-$wheel==" "$place/err"
done
expect "no Debian package is blamed for it" test -z "$(grep apt-get "$place/err")"

run LACKS="clang-22" CUDA_HOME=/nonexistent ASSAY_IGNORE_TOOLKIT=1
expect "an older LLVM that is there whole will do" test -z "$(grep clang- "$place/err")"

# A toolkit that is complete is taken; one without the headers of the crt package is not.
toolkit=$place/toolkit
mkdir -p "$toolkit/lib64" "$toolkit/include/crt" "$toolkit/include/cccl/cuda/std"
touch "$toolkit"/lib64/libnvrtc.so.12 "$toolkit"/include/{cuda_runtime.h,cuda_fp16.h,crt/mma.h,cccl/cuda/std/cstdint}
is_toolkit() { bash -c 'source "$0/tools/setup.sh"; is_toolkit "$1"' "$place" "$toolkit"; }
expect "a complete toolkit" is_toolkit
mv "$toolkit/lib64/libnvrtc.so.12" "$toolkit/lib64/libnvrtc.so.11.2"
expect "not one that is too old" eval '! is_toolkit'
mv "$toolkit/lib64/libnvrtc.so.11.2" "$toolkit/lib64/libnvrtc.so.13"
rm "$toolkit/include/crt/mma.h"
expect "nor one without crt/mma.h" eval '! is_toolkit'
touch "$toolkit/include/crt/mma.h"

# Once everything was found, nobody asks again.
set_up() { env PATH="$place/bin:$PATH" LACKS="" CUDA_HOME="$toolkit" bash -c 'source "$0/tools/setup.sh"; set_up' "$place" 2>"$place/err"; }

rm -f "$place/asked"
expect "setting up where all is there" set_up
expect "asked the first time" [ -s "$place/asked" ]
rm "$place/asked"
expect "setting up again" set_up
expect "did not ask the second time" [ ! -e "$place/asked" ]

[ $failures = 0 ] || { echo "$failures expectations failed"; exit 1; }
echo "all expectations met"
