/** The product's logo: a commit, and the path from it through plan and apply. It inherits the text colour. */
export const Mark = ({ className }: { readonly className?: string }) => (
  <svg className={className} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path
      d="M13.4 6.25H9.2a2.9 2.9 0 0 0 0 5.8h5.6a2.9 2.9 0 0 1 0 5.8H5.6"
      fill="none"
      stroke="currentColor"
      strokeWidth="2.9"
      strokeLinecap="round"
    />
    <circle cx="18.5" cy="6.25" r="2" fill="currentColor" />
  </svg>
)

/** The logo with the name of the product or of a Workspace. */
export const Brand = ({ name = "svc" }: { readonly name?: string }) => (
  <>
    <Mark className="brand-mark" />
    <span>{name}</span>
  </>
)
