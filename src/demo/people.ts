/** The companies of the demo account's contacts. */
export interface Firm {
  name: string;
  domain: string;
  street: string;
  city: string;
  state: string;
  zip: string;
  country: string;
  timezone: string;
  language: string;
  /** Before the last seven digits of a phone number. */
  dial: string;
}

const firm = (
  [name, domain]: [string, string],
  [street, city, state, zip, country]: [string, string, string, string, string],
  [timezone, language, dial]: [string, string, string],
): Firm => ({ name, domain, street, city, state, zip, country, timezone, language, dial });

export const firms: Firm[] = [
  firm(['Harbor & Pine', 'harborpine.example'], ['12 Wharf St', 'Portland', 'ME', '04101', 'US'], ['America/New_York', 'en', '+1207']),
  firm(
    ['Bluebird Dental', 'bluebirddental.example'],
    ['480 Elm Ave', 'Columbus', 'OH', '43215', 'US'],
    ['America/New_York', 'en', '+1614'],
  ),
  firm(['Ridgeline Roofing', 'ridgeline.example'], ['77 Quarry Rd', 'Denver', 'CO', '80202', 'US'], ['America/Denver', 'en', '+1303']),
  firm(['Casa Verde Realty', 'casaverde.example'], ['900 Congress Ave', 'Austin', 'TX', '78701', 'US'], ['America/Chicago', 'es', '+1512']),
  firm(['Lumen Physio', 'lumenphysio.example'], ['31 Pike St', 'Seattle', 'WA', '98101', 'US'], ['America/Los_Angeles', 'en', '+1206']),
  firm(
    ['Sable Coffee Roasters', 'sablecoffee.example'],
    ['5 Mission St', 'San Francisco', 'CA', '94105', 'US'],
    ['America/Los_Angeles', 'en', '+1415'],
  ),
  firm(
    ['Northline Logistics', 'northline.example'],
    ['2100 Lake Shore', 'Chicago', 'IL', '60611', 'US'],
    ['America/Chicago', 'en', '+1312'],
  ),
  firm(['Meridian Legal', 'meridianlegal.example'], ['18 Bay St', 'Toronto', 'ON', 'M5J 2R8', 'CA'], ['America/Toronto', 'en', '+1416']),
  firm(['Atelier Roy', 'atelierroy.example'], ['44 Rue Sherbrooke', 'Montréal', 'QC', 'H2X 1X5', 'CA'], ['America/Toronto', 'fr', '+1514']),
  firm(
    ['Orchard Learning', 'orchardlearning.example'],
    ['6 Peachtree St', 'Atlanta', 'GA', '30303', 'US'],
    ['America/New_York', 'en', '+1404'],
  ),
  firm(['Tidewater Boats', 'tidewaterboats.example'], ['210 Ocean Dr', 'Miami', 'FL', '33139', 'US'], ['America/New_York', 'en', '+1305']),
  firm(
    ['Copperfield Solar', 'copperfieldsolar.example'],
    ['1400 Central Ave', 'Phoenix', 'AZ', '85004', 'US'],
    ['America/Phoenix', 'en', '+1602'],
  ),
];

const names = `Ada Brennan, Marcus Webb, Priya Raman, Tom Alvarez, Ingrid Solberg, Jamal Carter, Lucía Ferrer, Ben Whitaker, Mei Tanaka,
  Oliver Stone, Fatima Haddad, Noah Kessler, Grace Nakamura, Diego Morales, Hannah Lindqvist, Samuel Osei, Chloé Tremblay, Victor Petrov,
  Zoe Castellano, Arjun Mehta, Ruth Goldberg, Leo Marchetti, Nadia Rahimi, Peter Novak, Amara Eze, Julian Frost, Sofia Andrade,
  Callum Reid, Wei Zhang, Isabel Quintero, Dominic Hale, Yara Mansour, Felix Baumann, Naomi Adler, Ravi Pillai, Tessa Moreau,
  Owen Gallagher, Keiko Mori, Andre Baptiste, Lena Fischer, Miguel Santos, Paula Jensen, Ezra Cohen, Bianca Rossi, Theo Lambert,
  Simone Duval, Hugo Bergström, Anita Desai, Carl Jennings, Maya Torres, Ellis Monroe, Farid Nasser, Greta Holm, Ian Prescott,
  Joy Abara, Kofi Mensah, Laila Aziz, Nils Eriksen, Olga Sidorova, Quinn Harper`;

/** The demo account's people: given and family name. */
export const people = names.split(',').map((name) => name.trim().split(' ') as [string, string]);

export const titles = [
  ...['Owner', 'Office manager', 'Head of operations', 'Marketing lead', 'Founder', 'Purchasing manager', 'Account manager'],
  ...['Finance director', 'Practice manager', 'Project lead', 'Chief of staff'],
];

/** Tag name and colour. */
export const tags: [string, string][] = [
  ['VIP', '#B45309'],
  ['Newsletter', '#2563EB'],
  ['Trade show', '#7C3AED'],
  ['Referral', '#059669'],
  ['Webinar', '#0891B2'],
  ['Partner', '#4F46E5'],
  ['Churn risk', '#DC2626'],
  ['Decision maker', '#CA8A04'],
  ['Trial', '#DB2777'],
  ['Renewal due', '#EA580C'],
];

interface Tracked {
  source: string;
  utm_source: string;
  utm_medium: string;
  utm_campaign: string;
  landingUrl: string;
}

/** Lead source, and what the tracking of it told. */
export const sources: (Tracked | { source: string })[] = [
  { source: 'Website', utm_source: 'google', utm_medium: 'cpc', utm_campaign: 'spring-launch', landingUrl: 'https://demo.example/pricing' },
  { source: 'Referral' },
  { source: 'Trade show' },
  {
    source: 'Webinar',
    utm_source: 'newsletter',
    utm_medium: 'email',
    utm_campaign: 'crm-in-an-hour',
    landingUrl: 'https://demo.example/webinar',
  },
  { source: 'Cold outreach' },
  {
    source: 'Social',
    utm_source: 'linkedin',
    utm_medium: 'social',
    utm_campaign: 'customer-stories',
    landingUrl: 'https://demo.example/stories',
  },
];

/** The owner's colleagues. */
export const team = [
  { email: 'mika@example.com', firstName: 'Mika', lastName: 'Laurent', role: 'admin', phone: '+14155550171' },
  { email: 'sam@example.com', firstName: 'Sam', lastName: 'Doyle', role: 'member', phone: null },
] as const;
