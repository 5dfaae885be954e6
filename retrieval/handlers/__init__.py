"""This engine's RCP methods, one file a group. Below: services, ingest, models, retrieval.rcp.

Above: rcp_views (HTTP) and the rcp command (stdio), which take their server from `server`.
"""
