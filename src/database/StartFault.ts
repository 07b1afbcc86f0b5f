/**
 * The reason why no server can use a data folder, and the remedy. Startup fails with this fault, and `svc doctor` reports
 * it.
 */
export interface StartFault {
  readonly message: string
  readonly remedy: string
}

/** Formats the fault as an error message. */
export const faultText = ({ message, remedy }: StartFault): string => `${message} ${remedy}`
