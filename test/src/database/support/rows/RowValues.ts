/** Drops the columns that a version does not have yet. */
type Values = Readonly<Record<string, string | number | Uint8Array>>

/** Rows of several tables, in dependency order. */
export type Rows = ReadonlyArray<readonly [table: string, values: Values]>

export const id = (prefix: string, letter: string) => `${prefix}_${letter.repeat(24)}`
export const at = "2026-01-01T00:00:00.000Z"
export const later = "2026-01-02T00:00:00.000Z"
export const times = { created_at: at, updated_at: at }
export const workspace_id = id("ws", "a")
export const subject = id("usr", "a")
export const source_id = id("src", "a")
export const source_snapshot_id = id("snap", "a")
export const install_config_id = id("icfg", "a")
export const producer = id("cap", "a")
export const consumer = id("cap", "b")
export const connection_id = id("conn", "a")
export const plan = id("run", "a")
export const apply = id("run", "b")
export const group_id = id("rgrp", "a")
export const grant_id = id("grt", "a")
export const team_id = id("team", "a")
