/**
 * Text whose backtick-quoted parts are shown as code. Messages from the server and the dashboard quote commands this way.
 */
export const TextWithCode = ({ text }: { readonly text: string }) => {
  const parts = text.split("`")
  // If the number of backticks is odd, they do not enclose code, so the text is shown unchanged.
  if (parts.length % 2 === 0) return <>{text}</>
  // The fragment is needed because invisible characters are escaped only in the text of JSX elements.
  return (
    <>
      {parts.map((part, index) =>
        // oxlint-disable-next-line react/no-array-index-key
        index % 2 === 0 ? part : <code key={index}>{part}</code>
      )}
    </>
  )
}
