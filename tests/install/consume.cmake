# Configures, builds and runs the consumer. `how` is packages, find_package, build_tree
# or add_subdirectory.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Installed files must not contain the build path.
function(refuse_paths_of_this_machine root)
  file(GLOB_RECURSE texts ${root}/*.cmake ${root}/*.pc)
  foreach(file IN LISTS texts)
    file(STRINGS ${file} lines)
    foreach(line IN LISTS lines)
      foreach(path IN ITEMS "${coxswain_build}" "${coxswain_source}")
        string(FIND "${line}" "${path}" at)
        if(NOT at EQUAL -1)
          message(FATAL_ERROR "${file} names a path of this machine: ${line}")
        endif()
      endforeach()
    endforeach()
  endforeach()
endfunction()

# Unpacks the packages into a separate root directory, without root privileges.
function(install_packages root)
  run(cpack --config ${coxswain_build}/CPackConfig.cmake -B ${work}/packages)
  set(names coxswain libcoxswain-dev)
  file(GLOB python_package ${work}/packages/python3-coxswain_*.deb)
  if(python_package)
    list(APPEND names python3-coxswain)
  endif()
  foreach(name IN LISTS names)
    file(GLOB package ${work}/packages/${name}_*.deb)
    run(dpkg-deb --extract ${package} ${root})
    execute_process(COMMAND dpkg-deb --field ${package} Depends OUTPUT_VARIABLE ${name}_depends
      COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS "${name} depends on ${${name}_depends}")
  endforeach()
  if(NOT coxswain_depends MATCHES "libprotobuf-lite" OR
     NOT libcoxswain-dev_depends MATCHES "libboost1[.][0-9]+-dev")
    message(FATAL_ERROR "The packages do not say what they need.")
  endif()

  run(${root}/usr/bin/coxswain version)
  foreach(file IN ITEMS
      share/bash-completion/completions/coxswain share/doc/coxswain/examples/jobset.yaml
      lib/systemd/system/coxswain@.service share/doc/coxswain/copyright
      share/doc/libcoxswain-dev/copyright include/coxswain/client/client.hpp)
    file(GLOB found ${root}/usr/${file})
    if(NOT found)
      message(FATAL_ERROR "The packages lack /usr/${file}.")
    endif()
  endforeach()
endfunction()

# A Python job of one task with only the installed package, which must be small.
function(run_python root)
  file(GLOB package ${root}/usr/lib/python3*/*-packages/coxswain)
  if(NOT package)
    return()
  endif()
  file(GLOB module ${package}/_native*.so)
  file(SIZE ${module} size)
  message(STATUS "the Python module has ${size} bytes")
  if(size GREATER 9000000)
    message(FATAL_ERROR "The Python module has more than 9 MB.")
  endif()
  cmake_path(GET package PARENT_PATH directory)
  set(ENV{PYTHONPATH} ${directory})
  set(ENV{PYTHONDONTWRITEBYTECODE} 1)
  run(python3 -c
"import coxswain
with coxswain.Coordinator(1) as coordinator, coxswain.Client(coordinator.address, 0) as job:
    assert job.barrier('b') == 1 and coxswain.__file__.startswith('${directory}/')")
endfunction()

# A plugin in C, built with the flags of pkg-config.
function(build_plugin root)
  find_program(PKG_CONFIG pkg-config)
  if(NOT PKG_CONFIG)
    return()
  endif()
  file(GLOB_RECURSE pc ${root}/*/coxswain.pc)
  cmake_path(GET pc PARENT_PATH directory)
  set(ENV{PKG_CONFIG_PATH} ${directory})
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs coxswain OUTPUT_VARIABLE said
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(said UNIX_COMMAND "${said}")
  file(WRITE ${work}/main.c
    "#include <coxswain/c/coxswain.h>\n"
    "int code_without_a_coordinator(void);\n"
    "int main(void) { return code_without_a_coordinator() != COXSWAIN_DEADLINE_EXCEEDED; }\n")
  run(cc -o ${work}/plugin ${consumer}/plugin.c ${work}/main.c ${said})
  run(${work}/plugin)
endfunction()

# Optimizing the layers again would take minutes and show nothing new.
set(settings -G Ninja -D CMAKE_BUILD_TYPE= "-DCMAKE_CXX_COMPILER=${compiler}"
  "-DCMAKE_CXX_FLAGS=${flags}")

if(NOT how STREQUAL "add_subdirectory")
  file(REMOVE_RECURSE ${work})
endif()
if(how STREQUAL "packages")
  install_packages(${work}/prefix)
  build_plugin(${work}/prefix)
  run_python(${work}/prefix)
  list(APPEND settings -D CMAKE_PREFIX_PATH=${work}/prefix/usr)
elseif(how STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${coxswain_build} --prefix ${work}/prefix)
  list(APPEND settings -D CMAKE_PREFIX_PATH=${work}/prefix)
elseif(how STREQUAL "build_tree")
  set(ENV{PATH} "${coxswain_build}/bin:$ENV{PATH}")
else()
  list(APPEND settings -D COXSWAIN_SOURCE=${coxswain_source} -D COXSWAIN_UNITY=ON)
endif()
refuse_paths_of_this_machine(${work}/prefix)

run(${CMAKE_COMMAND} -S ${consumer} -B ${work}/build ${settings})
run(${CMAKE_COMMAND} --build ${work}/build --parallel 2)
run(${work}/build/consumer)
