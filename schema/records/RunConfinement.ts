import { Schema } from "effect"

/** The limits that a Run can exceed, by error code. */
export const RunLimitCode = Schema.Literals([
  "memory_limit",
  "process_limit",
  "tmp_limit",
  "shm_limit",
  "folder_limit",
  /** The disk was almost full, and this Run used the most space. */
  "disk_low"
])
export type RunLimitCode = typeof RunLimitCode.Type

/**
 * The network that a Run's programs can reach. `isolated`: a separate network, without the host's loopback and the forbidden
 * ranges. `host`: the machine's network.
 */
export const RunNetwork = Schema.Literals(["isolated", "host"])
export type RunNetwork = typeof RunNetwork.Type
