import { setSystemTime } from "bun:test"

/** The time at which every picture is taken. Import it before the records, whose times are relative to it. */
export const pictureTime = new Date("2026-11-20T05:30:00.000Z")

setSystemTime(pictureTime)
