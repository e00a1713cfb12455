#!/usr/bin/env bash
# Sets up everything that aotifuzz is built and tested with, then builds it. Run again at any time: what is there is kept.
#
#   bash harness/setup.sh            system packages, .venv with the newest supported torch, build/
#   bash harness/setup.sh --models   also the libraries that the real test models come from, and what tests check with
#
# AOTIFUZZ_TORCH=2.11.0 takes another torch: .venv-2.11.0, build/torch-2.11.0. AOTIFUZZ_TORCH=active builds against the torch
# of the active environment, which is left as it is: build/torch-active. They live side by side: whichever `aotifuzz` is
# started finds the worker that fits a package.
#
# Nothing is asked. Wheels, compiled objects and packed models are kept in $AOTIFUZZ_CACHE (default: ~/.cache/aotifuzz),
# so that a second clone is ready in minutes. demo.sh and tests/run.sh source this file and call its functions.

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# ~ and not $HOME, which CI systems leave unset. Absolute and exported: pack and the tests look in the same place.
cache=${AOTIFUZZ_CACHE:-${XDG_CACHE_HOME:-~/.cache}/aotifuzz}
mkdir -p "$cache" && cache=$(cd "$cache" && pwd) && [ -n "$cache" ] || {
  printf 'error: the cache is no folder that can be made\n  where: %s\n  what to do: correct or unset AOTIFUZZ_CACHE\n' "$cache" >&2
  exit 3
}
export AOTIFUZZ_CACHE=$cache

# Supported versions of torch, the newest first, each with the torchvision that goes with it. Other places know them from
# here: CMakeLists.txt reads this list too.
supported_torch=(2.15.0 2.14.1 2.13.0 2.12.1 2.11.0)
declare -A torchvision_of=([2.15.0]=0.29.2 [2.14.1]=0.29.2 [2.13.0]=0.28.0 [2.12.1]=0.27.1 [2.11.0]=0.26.0)
numpy_package=numpy==2.4.6
model_packages=(timm==1.0.31 transformers==5.24.0 hypothesis==6.170.17)
# SARIF's schema as Python types: what tests/store/schemas checks reports with.
schema_packages=(pydantic-sarif==0.1.1 pydantic==2.14.4)

system_packages=(
  g++ make cmake ninja-build pkg-config ccache python3-venv python3-dev git ca-certificates
  librapidcheck-dev libeigen3-dev libgtest-dev libgmock-dev libbenchmark-dev libz3-dev nlohmann-json3-dev libcli11-dev
  libzip-dev libfmt-dev libspdlog-dev libexpected-dev clang-19 libclang-rt-19-dev libxml2-utils
)

say() {
  local bold='' plain=''
  [ ! -t 1 ] || bold=$'\033[1m' plain=$'\033[0m'
  printf '%s[%s]%s %s\n' "$bold" "$(date +%H:%M:%S)" "$plain" "$*"
}

# what, where, what to do
fail() {
  printf 'error: %s\n  where: %s\n  what to do: %s\n' "$1" "$2" "$3" >&2
  exit 3
}

setup_system() {
  local missing=() package
  command -v dpkg-query >/dev/null || fail "this is not Debian or Ubuntu: no dpkg-query" "harness/setup.sh" \
    "install the equivalents of: ${system_packages[*]}; then build with cmake as shown at the end of harness/setup.sh"
  for package in "${system_packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    elif command -v sudo >/dev/null && [ -t 0 ]; then
      as_root=(sudo)
    else
      fail "system packages are missing and this user cannot install them" "${missing[*]}" \
        "as root: apt-get install --no-install-recommends ${missing[*]}"
    fi
  fi
  say "installing system packages (about a minute): ${missing[*]}"
  local log=$cache/apt.log apt=(env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300)
  # One broken third-party source fails the update, and need not matter: the install decides.
  "${as_root[@]}" "${apt[@]}" update >"$log" 2>&1 || true
  "${as_root[@]}" "${apt[@]}" install --no-install-recommends "${missing[@]}" >>"$log" 2>&1 || {
    tail -n 15 "$log" >&2
    fail "apt-get could not install the packages" "$log" \
      "read the lines above; on Ubuntu the 'universe' component must be enabled (add-apt-repository universe)"
  }
}

# choose_torch [VERSION]: sets torch, python, build_folder and venv ("" for the active environment)
choose_torch() {
  torch=${1:-${AOTIFUZZ_TORCH:-${supported_torch[0]}}}
  if [ "$torch" = active ]; then
    venv='' build_folder=$repo/build/torch-active
    python=$(command -v python3 || command -v python) || fail "there is no python3 in PATH" "AOTIFUZZ_TORCH=active" "activate an environment that has torch"
    local version
    version=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null) ||
      fail "the active environment has no torch" "$python" "activate one that has, or leave AOTIFUZZ_TORCH out: torch ${supported_torch[0]} is installed then"
    torch=${version%%+*}
    say_if_unsupported "$torch"
    return 0
  fi
  [[ $torch =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] ||
    fail "not a version of torch" "AOTIFUZZ_TORCH=$torch" "give one of ${supported_torch[*]}, or active"
  say_if_unsupported "$torch"
  if [ "$torch" = "${supported_torch[0]}" ]; then
    venv=$repo/.venv build_folder=$repo/build
  else
    venv=$repo/.venv-$torch build_folder=$repo/build/torch-$torch
  fi
  python=$venv/bin/python
}

say_if_unsupported() {
  [[ " ${supported_torch[*]} " = *" $1 "* ]] ||
    say "torch $1 is none of the versions that aotifuzz is tested with (${supported_torch[*]}): trying all the same"
}

# install PACKAGE...: with uv, which links wheels from the cache in seconds; with pip where uv cannot be had.
install() {
  local log=$cache/install.log
  # Both tools have certificates of their own, which do not know a company's proxy; the system does.
  if [ -z "${SSL_CERT_FILE:-}" ]; then
    export SSL_CERT_FILE=${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}
    [ -r "$SSL_CERT_FILE" ] || unset SSL_CERT_FILE
  fi
  [ -n "${PIP_CERT:-}" ] || [ -z "${SSL_CERT_FILE:-}" ] || export PIP_CERT=$SSL_CERT_FILE
  # uv does not read pip's settings: hand on a mirror that pip was told to use.
  [ -n "${UV_DEFAULT_INDEX:-}" ] || [ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX=$PIP_INDEX_URL
  export UV_CACHE_DIR=$cache/uv UV_HTTP_TIMEOUT=300

  : >"$log"
  [ -x "$venv/bin/uv" ] || "$python" -m pip install -q --disable-pip-version-check uv >>"$log" 2>&1 || true
  if [ -x "$venv/bin/uv" ] && "$venv/bin/uv" pip install --python "$python" "$@" >>"$log" 2>&1; then
    return 0
  fi
  say "uv failed ($(tail -n 1 "$log")); trying pip, which takes minutes"
  "$python" -m pip install --disable-pip-version-check "$@" >>"$log" 2>&1 || {
    tail -n 15 "$log" >&2
    fail "could not install $*" "$log" "check the network, the disk (torch needs 6 GB) and any proxy, then run it again"
  }
}

# One stamp per set of packages; its content is the list, so that a new pin installs again.
setup_python() {
  local name=$1 what=$2
  shift 2
  local stamp=$venv/aotifuzz-$name
  [ "$(cat "$stamp" 2>/dev/null)" = "$*" ] && [ -x "$python" ] && return 0
  local began=$SECONDS
  if ! "$python" -c '' 2>/dev/null; then
    # Not whatever python3 comes first in PATH: a shim's interpreter may lack its headers or vanish with an upgrade.
    local base=/usr/bin/python3
    [ -x "$base" ] || base=python3
    rm -rf "$venv"
    "$base" -m venv "$venv" >"$cache/install.log" 2>&1 ||
      fail "could not create a virtual environment with $base" "$cache/install.log" "install python3-venv, or free disk space"
  fi
  say "installing $what (seconds from the cache, minutes from the network)"
  install "$@"
  printf '%s' "$*" >"$stamp"
  say "installed in $((SECONDS - began)) s"
}

# setup [--models]: after choose_torch
setup() {
  setup_system
  if [ -z "$venv" ]; then
    [ "${1:-}" != --models ] || require_modules torchvision timm transformers hypothesis pydantic_sarif
    return 0
  fi
  setup_python torch "torch $torch with its libraries into ${venv##*/}" "torch==$torch" "$numpy_package"
  if [ "${1:-}" = --models ]; then
    local vision=${torchvision_of[$torch]:-}
    setup_python models "torchvision, timm, transformers and hypothesis into ${venv##*/}" "torch==$torch" "torchvision${vision:+==$vision}" "${model_packages[@]}"
    setup_python schemas "the types of SARIF's schema into ${venv##*/}" "${schema_packages[@]}"
  fi
}

require_modules() {
  local module missing=()
  for module in "$@"; do
    "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$module') is None)" || missing+=("${module/_/-}")
  done
  [ ${#missing[@]} -eq 0 ] || fail "the active environment lacks ${missing[*]}, which the tests need" "$python" \
    "pip install ${missing[*]}; nothing is installed into an environment that is yours"
}

# build [TARGET...]: everything, or the targets named
build() {
  # Paths inside the checkout are made relative, so that another checkout gets the same objects from the cache.
  export CCACHE_DIR=$cache/ccache CCACHE_BASEDIR=$repo CCACHE_NOHASHDIR=1
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_MAXSIZE=4G
  local began=$SECONDS log=$build_folder/configure.log
  mkdir -p "$build_folder"
  say "configuring and building into ${build_folder#"$repo"/}/ (minutes the first time, seconds later)"
  cmake -S "$repo" -B "$build_folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DAOTIFUZZ_PYTHON="$python" \
    -DCMAKE_C_COMPILER=/usr/bin/gcc -DCMAKE_CXX_COMPILER=/usr/bin/g++ \
    -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"$log" 2>&1 || {
    tail -n 25 "$log" >&2
    fail "cmake could not configure" "$log" "read the lines above; 'rm -rf ${build_folder#"$repo"/}' starts afresh"
  }
  cmake --build "$build_folder" ${1:+--target "$@"} || fail "the build failed" "${build_folder#"$repo"/}/" "read the compiler's message above"
  say "built in $((SECONDS - began)) s"
}

# pack OPTION...: packages from model functions, through the cache
pack() {
  # The system's compiler: another g++ in PATH may make packages that its own runtime libraries are needed for.
  CC=/usr/bin/gcc CXX=/usr/bin/g++ PYTHONPATH=$repo/harness/pack "$python" -m aotifuzz_pack "$@"
}

choose_torch

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  setup "$@"
  build
  say "ready: ${build_folder#"$repo"/}/aotifuzz --help"
fi
