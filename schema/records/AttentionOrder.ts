// Must not import Effect, because the dashboard also loads this module.

/**
 * The kinds of attention items, most urgent first. Lists are sorted in this order; an entry with several reasons takes the most
 * urgent kind.
 */
export const attentionKinds = [
  "unknown_safety",
  "failed",
  "uncertain_ground",
  "waiting_approval",
  "approved",
  "waiting_change",
  "waiting_credential",
  "check_failed",
  "update_held",
  "lane_failed",
  "work_stuck",
  "origins_unconfirmed",
  "connection_expired",
  "connection_unrenewed",
  "connection_unrevoked",
  "notices_stopped",
  "automation_paused",
  "drifted",
  "stale",
  "update_open",
  "connection_expiring"
] as const

/** The headings of the attention list, in the order of their kinds. */
export const attentionGroups = ["failed", "decision", "blocked", "drifted", "update", "expiring"] as const
