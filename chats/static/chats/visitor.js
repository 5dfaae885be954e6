// Who asks, in a frame on another site, where browsers send no cookie that says so: the first token
// that the page was given is kept and goes along with each request.

import { forget, keep, recall } from "./kept.js";

const NAME = "fastrag-visitor";
const { visitor: fresh, days } = document.body.dataset;
const token = fresh && (recall(NAME) ?? fresh);
if (token) keep(NAME, token, Number(days));

export const visitor = token ? { "X-Visitor": token } : {};

/** Begin anew where the server does not take the token any more. */
export function refused(error) {
  if (error.status !== 401 || token === fresh) return;
  forget(NAME);
  window.location.reload();
}
