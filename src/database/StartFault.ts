/** Why no server can use a data folder, and what to do about it. Startup fails with it, and `svc doctor` reports it. */
export interface StartFault {
  readonly message: string
  readonly remedy: string
}

/** The fault as a refusal. */
export const faultText = ({ message, remedy }: StartFault): string => `${message} ${remedy}`
