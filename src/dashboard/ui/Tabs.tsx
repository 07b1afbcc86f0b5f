import { Link, type LinkProps } from "@tanstack/react-router"

/** Tabs are addresses: they can be linked to, opened in a new tab, and left with the back button. */
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
        {...link}
        className={current ? "tab tab-current" : "tab"}
        aria-current={current ? "page" : undefined}
        resetScroll={false}
      >
        {name}
      </Link>
    ))}
  </nav>
)
