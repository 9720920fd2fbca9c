import { itServesPart } from './everyRoute.js';

itServesPart(1);
