INSERT INTO "table" VALUES('ann','bob','3');
INSERT INTO "table" VALUES('bob','cleo d','-4');
INSERT INTO "table" VALUES('cleo d','ann','10');
INSERT INTO "table" VALUES('dan','ann','2');
