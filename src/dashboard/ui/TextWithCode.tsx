/**
 * A text in which parts between backticks are drawn as code. Messages of the server and the dashboard write commands in this way.
 */
export const TextWithCode = ({ text }: { readonly text: string }) => {
  const parts = text.split("`")
  // If the number of backticks is odd, they do not enclose code, so the text is shown unchanged.
  if (parts.length % 2 === 0) return <>{text}</>
  // Returned in a fragment, because invisible characters are escaped only in the text of elements.
  return (
    <>
      {parts.map((part, index) =>
        // oxlint-disable-next-line react/no-array-index-key
        index % 2 === 0 ? part : <code key={index}>{part}</code>
      )}
    </>
  )
}
