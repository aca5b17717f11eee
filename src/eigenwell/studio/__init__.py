"""Draw demonstrations in the browser and watch them become a stable field: a small server and a static page.

The page and the server speak JSON over one WebSocket (`protocol`). Work runs in worker processes (`workers`, `work`), so
that drawing never waits; the server (`server`) only passes messages. Needs the extra `studio`.
"""
