// A source's title as it is shown: the site's name stands above it, and need not stand in it again.

export function titleOf({ title, site_name }) {
  const [, own, name] = /^(.*\S)\s+[-–—|·•:]\s+(.+)$/.exec(title) ?? [];
  return name && name === site_name ? own : title;
}
