import { Icon } from "../ui/Icon.tsx"
import { Mark } from "../ui/Mark.tsx"
import { navigation } from "./Navigation.ts"

/**
 * The first frame, shown before the page's own code runs. It is a page outline without text that is prerendered into the
 * HTML.
 */
export const FirstFrame = () => (
  <div className="shell first-frame" aria-hidden="true">
    <div className="bar" />
    <div className="shell-side">
      <div className="side">
        <span className="brand">
          <Mark className="brand-mark" />
          <span>svc</span>
        </span>
        <span className="side-workspace">
          <span className="side-mark" />
          <span className="skeleton-bar" />
        </span>
        <span className="side-search">
          <Icon name="search" />
        </span>
        <ul className="side-nav">
          {navigation.map((item) => (
            <li key={item.to} className="side-link">
              <Icon name={item.icon} />
              <span className="skeleton-bar" />
            </li>
          ))}
        </ul>
      </div>
    </div>
    <div className="shell-main">
      <div className="page">
        <span className="skeleton-bar skeleton-title" />
        <span className="skeleton-block" />
        <span className="skeleton-block skeleton-tall" />
      </div>
    </div>
  </div>
)
