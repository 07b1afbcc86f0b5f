// Must not import Effect: the dashboard's first script loads this module too.

/** Listed in the order of a Capsule's life. */
export const capsuleStatuses = ["pending", "active", "stale", "error", "disabled", "destroyed", "released"] as const
export type CapsuleStatus = (typeof capsuleStatuses)[number]

/** An ended Capsule cannot be brought back; its records remain readable. */
export const isEnded = (status: CapsuleStatus): boolean => status === "destroyed" || status === "released"

/** Neither ended nor disabled: the Capsule may have Runs, and its Outputs and Interfaces may be used. */
export const isInService = (status: CapsuleStatus): boolean => !isEnded(status) && status !== "disabled"
