// Must not import Effect: the dashboard's first script loads this module too.

/** In the order of a Capsule's life. */
export const capsuleStatuses = ["pending", "active", "stale", "error", "disabled", "destroyed", "released"] as const
export type CapsuleStatus = (typeof capsuleStatuses)[number]

/** A Capsule that has ended cannot be brought back; its records remain readable. */
export const isEnded = (status: CapsuleStatus): boolean => status === "destroyed" || status === "released"

/** Neither ended nor disabled: it may have Runs, and what it provides may be used. */
export const isInService = (status: CapsuleStatus): boolean => !isEnded(status) && status !== "disabled"
