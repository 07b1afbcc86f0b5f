// Must not import Effect, because the first script of the dashboard also loads this module.

/** The statuses of a Capsule, in the order in which it usually passes through them. */
export const capsuleStatuses = ["pending", "active", "stale", "error", "disabled", "destroyed", "released"] as const
export type CapsuleStatus = (typeof capsuleStatuses)[number]

/** Returns true if the Capsule has permanently ended. Its records remain readable. */
export const isEnded = (status: CapsuleStatus): boolean => status === "destroyed" || status === "released"

/**
 * Returns true if the Capsule may have Runs, and its Outputs and Interfaces may be used: it has neither ended nor been
 * disabled.
 */
export const isInService = (status: CapsuleStatus): boolean => !isEnded(status) && status !== "disabled"
