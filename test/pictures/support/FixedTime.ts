import { setSystemTime } from "bun:test"

/**
 * The time at which every picture is taken. Import this module before the records, whose times are relative to this time.
 */
export const pictureTime = new Date("2026-11-20T05:30:00.000Z")

setSystemTime(pictureTime)
