export interface RunGroupRow {
  readonly id: string
  readonly workspace_id: string
  readonly type: "update" | "drift_check"
  readonly created_at: string
  /** Of an update: when all of it was over. It stays open while a Capsule that failed may be planned again. */
  readonly finished_at: string | null
  /** JSON; the person in whose name the later waves are planned. */
  readonly started_by: string | null
  readonly cancelled_at: string | null
  readonly cancelled_by: string | null
  readonly cancel_reason: string | null
  readonly replaced_by: string | null
  /** Why the next wave is not planned although it could be. */
  readonly held_reason: string | null
  readonly held_by_pause: number
  readonly moved: number
  readonly seen: number
}
