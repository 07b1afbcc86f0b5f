import { japaneseReason } from "../words/FailureReasons.ts"
import { useLanguage } from "../words/Words.ts"
import { TextWithCode } from "./TextWithCode.tsx"

interface FailureReasonProps {
  readonly error: { readonly code: string; readonly message: string } | undefined
  readonly className?: string
}

/**
 * The reason for a failure, in the person's language if a translation exists, and always with the server's original message.
 */
export const FailureReason = ({ error, className }: FailureReasonProps) => {
  const language = useLanguage()
  if (error === undefined) return null
  const reason = language === "ja" ? japaneseReason(error.code) : undefined
  return (
    <>
      {reason === undefined ? null : <p className={className}>{reason}</p>}
      <p className={className} {...(language === "en" ? {} : { lang: "en" })}>
        <TextWithCode text={error.message} />
      </p>
    </>
  )
}
