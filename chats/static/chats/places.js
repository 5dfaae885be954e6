// The page's own addresses: at the root of the site, or in a frame, where they say how it looks.

const { base } = document.body.dataset;
const look = base ? window.location.search : "";

export const embedded = Boolean(base);
export const start = `${base}/${look}`;
export const chat = (id) => `${base}/chats/${id}${look}`;
