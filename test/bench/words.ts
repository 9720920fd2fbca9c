const words = (text: string) => text.trim().split(/\s+/);

/** What the contacts of the bench are made of. */
export const firstNames = words(`
  Aaliyah Aaron Adele Agnes Ahmed Aiko Alejandro Alice Amara Amir Ana Andrzej Anja Antoine Astrid Ayse Bao Beatriz Benjamin Bianca
  Björn Camille Carlos Carmen Chen Chiara Chloe Clara Daniel Daria David Deepa Diego Dmitri Eleni Elif Emeka Emma Enrique Ethan
  Fatima Felix Fiona Francesca Freya Gabriel Giulia Grace Gustavo Hana Hannah Hassan Helena Hugo Ibrahim Ida Ines Ingrid Irina Isaac
  Jack Jakub James Jana Jasmine Javier Joao Johanna Jonas Julia Kai Karim Katarzyna Kenji Khadija Kwame Lars Laura Leila Leo
  Lina Lucas Lucia Magnus Malik Maria Mateo Maya Mehmet Mei Mia Milan Mohammed Nadia Naomi Natalia Nikhil Nina Noah Nora
  Olga Oliver Olivia Omar Oscar Pablo Paola Pavel Petra Priya Rafael Rahul Rania Rebecca Ren Ricardo Rosa Ruth Samir Samuel
  Sara Sebastian Selma Sofia Stefan Sunita Tamar Tariq Theo Thomas Tomás Ursula Valentina Vera Victor Wei William Yasmin Yuki Zoe`);

export const lastNames = words(`
  Abadi Abbott Acosta Adeyemi Aguilar Ahmed Almeida Andersson Araújo Bailey Baker Banerjee Barbosa Bauer Becker Bennett Berg Bianchi
  Bishop Blanc Brandt Brennan Brooks Bruno Burke Cabrera Campbell Cardoso Carter Castillo Chandra Chang Chavez Cho Christensen Chopra
  Clarke Cohen Conti Costa Cruz Dahl Das Davies Delgado Desai Diallo Dias Dubois Duffy Dumont Eriksson Espinoza Esposito Evans Farrell
  Fernandes Ferrari Fischer Fitzgerald Fleming Foster Fournier Fraser Fujimoto Gallagher García Gill Gomes González Graham Greco Gupta
  Haddad Hansen Harper Hartmann Hayashi Hernández Hoffmann Holm Horvat Hughes Hussain Ibarra Inoue Ishikawa Ito Ivanov Jackson Jansen
  Jensen Johansson Joshi Kamara Kapoor Kato Kaufmann Keller Kennedy Khan Kim Kimura Klein Kowalski Kumar Lambert Larsen Laurent Lehmann
  Leroy Lima Lindberg Lombardi López Lund Macdonald Mahmoud Marino Marques Martin Mbeki Mehta Meier Mendoza Meyer Moreau Moretti Morgan
  Mori Murphy Müller Nair Nakamura Navarro Nielsen Novak Nguyen Nowak Ochoa Okafor Okonkwo Oliveira Olsen Ortiz Owens Pacheco Papadopoulos
  Park Patel Peeters Pereira Petrov Pinto Popescu Price Quinn Ramírez Rao Reddy Reyes Ricci Richter Rinaldi Rivera Romano Rossi Rousseau
  Ruiz Saito Salazar Santos Schmidt Schneider Schulz Shah Sharma Silva Simmons Singh Sokolov Sørensen Sousa Suzuki Svensson Takahashi
  Tanaka Torres Tran Turner Vargas Vasquez Vogel Wagner Walsh Weber Winkler Wójcik Yamamoto Yılmaz Young Zhang Zhou Zimmermann`);

export const companyHeads = words(`
  Alder Amber Anchor Apex Arbor Arrow Atlas Aurora Baltic Beacon Birch Blue Boreal Bright Cascade Cedar Cinder Clear Cobalt Copper Coral
  Crescent Delta Drift Ember Evergreen Falcon Fern Forge Garnet Golden Granite Harbor Haven Hazel Heron Highland Indigo Iron Ivory Jade
  Juniper Kestrel Lantern Larch Linden Lumen Maple Marble Meridian Mistral Nimbus North Oak Onyx Orchard Osprey Pacific Pearl Pine Polar
  Prairie Quartz Quill Raven Redwood Ridge River Rowan Saffron Sage Sierra Silver Slate Solar Spruce Sterling Summit Swift Tidal Timber
  Topaz Trillium Umber Union Vale Vector Velvet Verdant Vista Walnut Willow Winter Wren Zenith Zephyr`);

export const companyTails = words(`
  Analytics Bakery Biotech Builders Capital Ceramics Clinics Coffee Consulting Dental Design Dynamics Electric Energy Engineering Farms
  Finance Foods Freight Furniture Games Health Homes Hospitality Hotels Insurance Interiors Labs Legal Logistics Machines Marine Media
  Metals Motors Optics Outdoors Packaging Partners Pharma Plastics Press Properties Robotics Security Software Solar Studios Supply
  Systems Textiles Tools Toys Travel Ventures Water Wines Works`);

export const jobTitles =
  `Account Manager|Accountant|Architect|Buyer|CEO|CFO|CTO|Chief of Staff|Consultant|Controller|Customer Success Manager|
Data Analyst|Designer|Director of Operations|Engineer|Facilities Manager|Founder|General Manager|HR Manager|Head of Growth|Head of IT|
Head of Sales|Logistics Lead|Marketing Manager|Office Manager|Owner|Partner|Procurement Lead|Product Manager|Project Manager|
Purchasing Manager|Sales Representative|Software Developer|Store Manager|VP Marketing|VP Sales`
    .split('|')
    .map((title) => title.trim());

/** City, state, postal prefix, country and time zone. */
export const places = [
  ['Austin', 'TX', '787', 'US', 'America/Chicago'],
  ['Boston', 'MA', '021', 'US', 'America/New_York'],
  ['Chicago', 'IL', '606', 'US', 'America/Chicago'],
  ['Denver', 'CO', '802', 'US', 'America/Denver'],
  ['Miami', 'FL', '331', 'US', 'America/New_York'],
  ['New York', 'NY', '100', 'US', 'America/New_York'],
  ['Portland', 'OR', '972', 'US', 'America/Los_Angeles'],
  ['San Diego', 'CA', '921', 'US', 'America/Los_Angeles'],
  ['Seattle', 'WA', '981', 'US', 'America/Los_Angeles'],
  ['Toronto', 'ON', 'M5V', 'CA', 'America/Toronto'],
  ['London', 'England', 'SW1', 'GB', 'Europe/London'],
  ['Dublin', 'Leinster', 'D02', 'IE', 'Europe/Dublin'],
  ['Berlin', 'Berlin', '101', 'DE', 'Europe/Berlin'],
  ['Lyon', 'Auvergne-Rhône-Alpes', '690', 'FR', 'Europe/Paris'],
  ['Madrid', 'Madrid', '280', 'ES', 'Europe/Madrid'],
  ['Milano', 'Lombardia', '201', 'IT', 'Europe/Rome'],
  ['Lisboa', 'Lisboa', '110', 'PT', 'Europe/Lisbon'],
  ['Stockholm', 'Stockholm', '111', 'SE', 'Europe/Stockholm'],
  ['São Paulo', 'SP', '013', 'BR', 'America/Sao_Paulo'],
  ['Sydney', 'NSW', '200', 'AU', 'Australia/Sydney'],
] as const;

export const streets = words(`
  Ash Bay Bridge Canal Castle Cedar Chapel Church Court Elm Field Forest Garden Grove High Hill King Lake Market Meadow Mill Oak Park Queen
  River Rose School Spring Station Valley`);

/** Fifty tags, two a contact. */
export const tagNames = `Advocate|At risk|Beta tester|Black Friday|Bounced|Champion|Churned|Cold|Competitor|Conference 2025|Customer|
Decision maker|Demo booked|Demo done|Detractor|Do not call|Early adopter|Enterprise|Event attendee|Evaluating|Finance|Follow up|Free plan|
Healthcare|High value|Hot|Inbound|Influencer|Investor|Key account|Lapsed|Lead magnet|Legal review|Manufacturing|Newsletter|Nurture|
Onboarding|Outbound|Partner|Press|Promoter|Prospect|Referral|Renewal due|Retail|Supplier|Trial|Upsell|VIP|Webinar`
  .split('|')
  .map((name) => name.trim());

export const sources = ['website', 'referral', 'webinar', 'trade show', 'cold call', 'partner', 'advertising', 'import'];
