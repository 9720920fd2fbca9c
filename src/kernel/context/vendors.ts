/** The outside services that the product talks to. Each vendor's folder adds itself by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: vendors merge themselves into it
export interface Vendors {}
