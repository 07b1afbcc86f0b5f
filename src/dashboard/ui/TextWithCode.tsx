/**
 * A text in which parts between backticks are drawn as code. Messages of the server and the dashboard write commands in this way.
 */
export const TextWithCode = ({ text }: { readonly text: string }) => {
  const parts = text.split("`")
  // An odd number of backticks does not enclose code, so the text is shown as it is.
  if (parts.length % 2 === 0) return <>{text}</>
  // In a fragment, because only the text of elements has its invisible characters escaped.
  return (
    <>
      {parts.map((part, index) =>
        // oxlint-disable-next-line react/no-array-index-key
        index % 2 === 0 ? part : <code key={index}>{part}</code>
      )}
    </>
  )
}
