export * from "./client.js";
export * from "./events.js";
export * from "./stream.js";
export type { components, operations, paths } from "./schema.js";
