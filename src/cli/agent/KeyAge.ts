import { Duration } from "effect"
import type { AnyFinding } from "../doctor/DoctorReport.ts"

const day = Duration.toMillis("1 day")

const days = (millis: number): string => {
  const whole = Math.floor(millis / day)
  return whole === 1 ? "1 day" : `${whole} days`
}

/**
 * Checks the age of an agent's keys. A running agent starts replacing its keys in its next session, so keys that are more
 * than a day past their lifetime are overdue.
 */
export const keyAge = (
  madeAt: string | undefined,
  lifetime: Duration.Duration,
  now: number
): Pick<AnyFinding, "message" | "remedy"> & { readonly isOverdue: boolean } => {
  if (madeAt === undefined) {
    return { isOverdue: false, message: "The age of its keys is not known: it counts from the next start." }
  }
  const age = Math.max(0, now - Date.parse(madeAt))
  const limit = Duration.toMillis(lifetime)
  const message = `Its keys are ${age < day ? "less than a day" : days(age)} old.`
  return age <= limit + day
    ? { isOverdue: false, message }
    : {
        isOverdue: true,
        message: `${message} They should have been replaced after ${days(limit)}.`,
        remedy:
          "A running agent replaces them automatically: start it, and check its log for the reason why the server does not accept new keys."
      }
}
