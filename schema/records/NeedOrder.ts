// Must not import Effect: the dashboard loads this module too.

/**
 * The kinds of attention items, worst first. The order determines the order of the list and the kind of an entry with several
 * reasons.
 */
export const needKinds = [
  "unknown_safety",
  "failed",
  "uncertain_ground",
  "waiting_approval",
  "approved",
  "waiting_credential",
  "check_failed",
  "update_held",
  "lane_failed",
  "work_stuck",
  "origins_unconfirmed",
  "connection_expired",
  "connection_unrenewed",
  "connection_unrevoked",
  "automation_paused",
  "drifted",
  "stale",
  "update_open",
  "connection_expiring"
] as const

/** The list's headings, in the order of their kinds. */
export const needGroups = ["failed", "decision", "blocked", "drifted", "update", "expiring"] as const
