import { Schema } from "effect"

/** Limits that a Run can exceed, as its error code. */
export const RunLimitCode = Schema.Literals([
  "memory_limit",
  "process_limit",
  "tmp_limit",
  "shm_limit",
  "folder_limit",
  /** The disk ran low, and this Run used the most of it. */
  "disk_low"
])
export type RunLimitCode = typeof RunLimitCode.Type

/**
 * What the programs of a Run can reach: `isolated` is their own network, without the host's loopback and the forbidden ranges;
 * `host` is the network of the machine itself.
 */
export const RunNetwork = Schema.Literals(["isolated", "host"])
export type RunNetwork = typeof RunNetwork.Type
