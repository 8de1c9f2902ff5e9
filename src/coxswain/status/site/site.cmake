# Included where the library is made: `site_source` is the generated source of site.hpp.
set(site ${CMAKE_CURRENT_LIST_DIR})
set(site_output ${CMAKE_CURRENT_BINARY_DIR}/site)
set(site_source ${site_output}/site.cpp)
# In the order in which they are read; app.js begins.
set(site_scripts
  format.js model.js elements.js address.js actions.js link.js menu.js marks.js layout.js grid.js
  chart.js latency_chart.js pace_chart.js recorded_time.js stacks.js verdict.js waits_panel.js panels.js
  tasks_panel.js keys_panel.js events_panel.js app.js)

list(JOIN site_scripts , scripts)
list(TRANSFORM site_scripts PREPEND ${site}/ OUTPUT_VARIABLE script_files)
add_custom_command(
  OUTPUT ${site_source} ${site_output}/page.html ${site_output}/page.policy
  COMMAND ${CMAKE_COMMAND} -D site=${site} -D scripts=${scripts} -D output=${site_output}
    -P ${site}/embed.cmake
  DEPENDS ${site}/embed.cmake ${site}/index.html ${site}/style.css ${script_files}
  COMMENT "Making one text of the page"
  VERBATIM)
# The page is longer than the literals that every compiler must take.
set_source_files_properties(${site_source} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
