"""Given names that training draws for speakers, of many languages."""

NAMES = """Ada Aisha Alan Amir Anita Arjun Ben Bianca Boris Carla Chen Clara Dana Diego Dmitri Elif
Emma Enzo Farah Felix Fiona Gita Greta Hana Hassan Hugo Ines Ivan Jamal Jana Jonas Kai Keiko Lars
Leila Liam Lucia Luis Mara Marek Maya Mei Milo Nadia Nia Noah Nora Olga Omar Pablo Petra Priya Rafi
Rosa Ruth Sami Sara Selim Sofia Tariq Theo Tomas Uma Vera Viktor Wei Yara Yusuf Zoe Zuri""".split()  # noqa: SIM905 - names read better
