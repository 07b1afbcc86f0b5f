import type { CapsuleStatus } from "./Capsule.ts"

/** Nothing brings an ended Capsule back; its records stay readable. */
export const isEnded = (status: CapsuleStatus): boolean => status === "destroyed" || status === "released"

/** Neither ended nor switched off: it may have Runs, and what it provides may be used. */
export const isInService = (status: CapsuleStatus): boolean => !isEnded(status) && status !== "disabled"
