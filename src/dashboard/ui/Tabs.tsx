import { Link, type LinkProps } from "@tanstack/react-router"

/** Scrolls the row of tabs, not the page, because a phone shows only a part of the row. */
const reveal = (tab: HTMLElement | null) => {
  const row = tab?.parentElement
  if (tab === null || row === null || row === undefined) return
  row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2
}

/** Each tab has a URL, so that people can link to it, open it in a new browser tab, and leave it with the back button. */
export const Tabs = ({
  label,
  items
}: {
  readonly label: string
  readonly items: ReadonlyArray<LinkProps & { readonly name: string; readonly current: boolean }>
}) => (
  <nav className="tabs" aria-label={label}>
    {items.map(({ name, current, ...link }) => (
      <Link
        key={name}
        ref={current ? reveal : undefined}
        {...link}
        // The match must be exact. Otherwise, the first tab would always be current, because its address is a prefix of all
        // other addresses.
        activeOptions={{ exact: true }}
        className={current ? "tab tab-current" : "tab"}
        aria-current={current ? "page" : undefined}
        resetScroll={false}
      >
        {name}
      </Link>
    ))}
  </nav>
)
