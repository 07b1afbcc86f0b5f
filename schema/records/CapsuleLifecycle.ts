// Does not import Effect: the first script of the dashboard loads this too.

/** In the order of a Capsule's life. */
export const capsuleStatuses = ["pending", "active", "stale", "error", "disabled", "destroyed", "released"] as const
export type CapsuleStatus = (typeof capsuleStatuses)[number]

/** Nothing brings an ended Capsule back; its records stay readable. */
export const isEnded = (status: CapsuleStatus): boolean => status === "destroyed" || status === "released"

/** Neither ended nor disabled: it may have Runs, and what it provides may be used. */
export const isInService = (status: CapsuleStatus): boolean => !isEnded(status) && status !== "disabled"
