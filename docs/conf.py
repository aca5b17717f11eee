"""Sphinx: `make docs` builds the site into build/site, offline and without a warning."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path

import eigenwell

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "eigenwell"
author = "The eigenwell developers"
# A given date (https://reproducible-builds.org) makes two builds alike.
_built = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", datetime.now().timestamp())))
copyright = f"{_built.year}, {author}"
version = release = eigenwell.__version__
REPOSITORY = "https://github.com/eigenwell/eigenwell"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "public_names",
    "measurements",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/GALLERY_HEADER.rst", "tutorials/GALLERY_HEADER.rst"]
suppress_warnings = ["config.cache"]  # the order of the gallery is a function, which is not kept between builds
templates_path = ["_templates"]
nitpicky = False  # types of other packages have no page here; links inside are checked in the built pages

# --- text -----------------------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist", "attrs_inline"]
myst_heading_anchors = 3
html_math_renderer = "mathml"  # drawn by the browser: no script, no font, no network
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# --- reference ------------------------------------------------------------------------------------------
autosummary_imported_members = True  # a package's public names live in its files
autosummary_ignore_module_all = False
autodoc_type_aliases = {name: name for name in ("FloatArray", "IntArray", "BoolArray")}
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False  # the template lists them
numpydoc_xref_param_type = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# --- gallery --------------------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/gallery"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": r"/(plot|lesson)_",
    "ignore_pattern": r"__init__|arm_model",
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "plot_gallery": True,
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 0.5,
    "image_srcset": ["2x"],
    "download_all_examples": False,
    "default_thumb_file": str(HERE / "images" / "duffing.png"),
}

# --- pages ----------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "eigenwell"
html_static_path = ["_static"]
html_css_files = ["eigenwell.css"]
html_favicon = "_static/logo-light.svg"
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "changelog": []}
html_theme_options = {
    "logo": {"text": "eigenwell", "image_light": "_static/logo-light.svg", "image_dark": "_static/logo-dark.svg"},
    "navbar_align": "left",
    "show_nav_level": 1,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc", "sg_download_links"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "icon_links": [{"name": "Source", "url": REPOSITORY, "icon": "fa-brands fa-github"}],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
