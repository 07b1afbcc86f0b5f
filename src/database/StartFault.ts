/** The reason why no server can use a data folder, and the remedy. Startup fails with it, and `svc doctor` reports it. */
export interface StartFault {
  readonly message: string
  readonly remedy: string
}

/** The fault as a refusal. */
export const faultText = ({ message, remedy }: StartFault): string => `${message} ${remedy}`
