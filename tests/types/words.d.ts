/* The calls in whose place the theme puts words of the site's language (memosite/render/translating.py). */
declare function _(text: string): string;
declare function _n(number: number, one: string, many: string): string;
