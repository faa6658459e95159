"""A Mac's module for the proxies of its settings, of which there are none. urllib asks for it."""


def _get_proxy_settings():
    return {}


def _get_proxies():
    return {}
